import { CHART_STYLE } from '../print/chart/svg.js';
import { FORM_STYLE } from '../print/form/style.js';

/** The style of the page, in light and dark, for phones and paper. No text is under 12 px. */
export const STUDIO_STYLE = `${CHART_STYLE}${FORM_STYLE}
:root{color-scheme:light dark;--page:#f6f7f9;--sheet:#fff;--text:#1b202b;--mute:#566072;--rule:#dde1e8;--edge:#8a94a6;--accent:#1f5fd0;--on:#fff;--ok:#1d7a49;--ok-b:#e2f4e9;--warn:#8a5a00;--warn-b:#fff1d2;--err:#b3261e;--err-b:#fdecea;--run:#1f5fd0;--run-b:#e4eefd;--off:#566072;--off-b:#eceff3}
@media (prefers-color-scheme:dark){:root{--page:#101318;--sheet:#171b21;--text:#e6e9ef;--mute:#a2abb9;--rule:#2d343f;--edge:#67728a;--accent:#7fb0ff;--on:#0d1420;--ok:#6fd19c;--ok-b:#163325;--warn:#ecc06a;--warn-b:#3a2f14;--err:#ff9b94;--err-b:#3f1f1e;--run:#8ab8ff;--run-b:#1b2f52;--off:#a2abb9;--off-b:#252a32}}
*{box-sizing:border-box}
html{scroll-padding-top:64px}
body{margin:0;background:var(--page);color:var(--text);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
a{color:var(--accent);text-decoration-thickness:1px;text-underline-offset:2px}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px;border-radius:3px}
code,pre{font:13px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
code{overflow-wrap:anywhere}
pre{margin:0;padding:10px 12px;max-height:22em;overflow:auto;border-radius:8px;background:var(--page);border:1px solid var(--rule);white-space:pre-wrap;overflow-wrap:anywhere}
.skip{position:absolute;left:-999px}.skip:focus{left:8px;top:8px;z-index:9;background:var(--sheet);padding:8px}
.hidden{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.soft{color:var(--mute);font-size:14px}
.bar{position:sticky;top:0;z-index:5;display:flex;flex-wrap:wrap;align-items:center;gap:4px 20px;padding:8px 24px;background:var(--sheet);border-bottom:1px solid var(--rule)}
.brand{color:var(--text);text-decoration:initial;font-size:16px}
.bar nav{display:flex;gap:4px}
.bar nav a{padding:6px 12px;border-radius:8px;color:var(--mute);text-decoration:initial;font-weight:600}
.bar nav a[aria-current]{background:var(--off-b);color:var(--text)}
.where{flex:1 1 0;min-width:8em;color:var(--mute);font-size:13px;text-align:right;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
#link{font-size:13px;color:var(--mute)}
#link::before{content:"";display:inline-block;width:8px;height:8px;margin-right:6px;border-radius:50%;background:var(--warn)}
#link.live::before{background:var(--ok)}
main{max-width:1440px;margin:0 auto;padding:20px 24px 64px;display:grid;grid-template-columns:minmax(0,1fr);gap:16px}
section:empty{position:absolute;visibility:hidden}
h1{font-size:24px;line-height:1.25;margin:0 0 6px;overflow-wrap:anywhere}
h1 a{color:inherit;text-decoration:initial}
h1 .status{vertical-align:4px}
h2{font-size:16px;margin:0 0 10px}
h3{font-size:14px;margin:16px 0 6px}
pre+h2,p+h2,ul+h2,details+h2{margin-top:20px}
#head,#filters{padding:4px 0}
.facts{display:flex;flex-wrap:wrap;gap:2px 18px;margin:0;color:var(--mute);font-size:14px}
.status,.key{display:inline-block;padding:1px 10px;border-radius:999px;font-size:13px;line-height:20px;font-weight:600;white-space:nowrap;background:var(--off-b);color:var(--off)}
.status.completed,.status.succeeded,.key.succeeded{background:var(--ok-b);color:var(--ok)}
.status.failed,.key.failed{background:var(--err-b);color:var(--err)}
.status.waiting,.status.paused,.status.undone,.status.handled,.status.undoing,.key.handled,.key.waiting{background:var(--warn-b);color:var(--warn)}
.status.running,.status.ready,.key.running{background:var(--run-b);color:var(--run)}
#graph,#end,#timeline,#steps,#log,#runs,.sheet{background:var(--sheet);border:1px solid var(--rule);border-radius:12px;padding:16px 20px;min-width:0}
.notice{margin:0;white-space:pre-wrap;padding:12px 16px;border-radius:8px;border-left:4px solid var(--err);background:var(--err-b)}
.cards{list-style:"";margin:0;padding:0;display:grid;gap:12px;grid-template-columns:repeat(auto-fill,minmax(min(100%,380px),1fr))}
.card{background:var(--sheet);border:1px solid var(--rule);border-left:4px solid var(--off);border-radius:12px;padding:14px 18px;min-width:0}
.card.waits{border-left-color:var(--warn)}.card.busy{border-left-color:var(--run)}
.card p{margin:0 0 8px;overflow-wrap:anywhere}.card p:last-child{margin:0}
.ask{font-size:17px;font-weight:600;white-space:pre-line}
form{display:flex;flex-wrap:wrap;gap:10px;align-items:end}
form p{flex:1 0 100%;margin:0}
label{display:grid;grid-template-columns:minmax(0,auto);max-width:100%;gap:4px;font-size:13px;font-weight:600;color:var(--mute);min-width:0}
label.check{display:flex;align-items:center;gap:8px;min-height:40px}
input,select,textarea,button{font:inherit;font-size:15px;font-weight:400;color:var(--text);background:var(--sheet);border:1px solid var(--edge);border-radius:8px;padding:7px 12px;min-height:40px;max-width:100%}
textarea{width:min(36em,100%);resize:vertical}
form>label:has(textarea){flex:1 0 100%}
input[type=checkbox]{min-height:0;width:18px;height:18px;accent-color:var(--accent)}
button{cursor:pointer;font-weight:600}
button.main{background:var(--accent);border-color:var(--accent);color:var(--on)}
button.danger{border-color:var(--err);color:var(--err)}
.form,form>details{flex:1 0 100%}
.form label,.form legend{font-size:15px;color:var(--ink);display:block}
.form .option{display:flex}
.filters{gap:10px 14px}
.filters label:has([type=search]){flex:1 1 14em}
.filters [type=search]{width:100%}
table{border-collapse:collapse;width:100%;font-size:14px}
th{text-align:left;font-weight:600}
thead th{color:var(--mute);font-size:13px;border-bottom:1px solid var(--rule);padding:4px 12px 6px 0;white-space:nowrap}
tbody td,tbody th{padding:7px 12px 7px 0;border-bottom:1px solid var(--rule);vertical-align:top;overflow-wrap:anywhere}
tbody tr:last-child td,tbody tr:last-child th{border-bottom:0}
.runs tbody tr:hover,.log tbody tr:hover{background:var(--page)}
.runs time{white-space:nowrap}
.wide{overflow-x:auto}
.number{font-variant-numeric:tabular-nums;white-space:nowrap}
.pages{display:flex;gap:16px;margin:12px 0 0}
.empty{margin:0;color:var(--mute)}
.graph{overflow:auto;max-height:min(76vh,760px);border-radius:8px;scrollbar-width:thin}
.graph svg{display:block;margin:0 auto;max-width:100%;height:auto}
#graph{container-type:inline-size}
@container (min-width:600px){.graph .size-narrow{display:none}}
@container (max-width:599.9px){.graph .size-wide{display:none}}
.graph a{text-decoration:initial}
.graph a:focus-visible{outline:0}
.graph a:focus-visible .body{stroke:var(--accent);stroke-width:3}
.graph a:hover .body{stroke:var(--accent)}
.graph+.legend{margin:14px 0 0;color:var(--mute)}
.failure+details,ul+details{margin-top:12px}
.failure{margin:0;padding:12px 16px;border-radius:8px;background:var(--err-b);overflow-wrap:anywhere}
ul.undone{margin:0;padding-left:20px}
dl{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:8px 16px;margin:10px 0 4px}
dt{color:var(--mute);font-size:14px}dd{margin:0;min-width:0;overflow-wrap:anywhere}
.timeline th{width:1%;white-space:nowrap;font-weight:400}
.timeline td:last-child{width:1%}
.timeline tbody td,.timeline tbody th{padding:3px 12px 3px 0;border:0;vertical-align:middle}
.track{display:block;width:100%;height:14px;border-radius:3px;background:var(--page)}
.span{fill:var(--off)}
.t-succeeded{fill:var(--ok)}.t-failed{fill:var(--err)}.t-running{fill:var(--run)}.t-waiting,.t-handled{fill:var(--warn)}
details>summary{cursor:pointer}
details>summary h2{display:inline}
.step{border-bottom:1px solid var(--rule);padding:6px 0}
.step:last-child{border-bottom:0}
.step summary{padding:3px 0}
.step .name{font-weight:600;margin-right:6px;overflow-wrap:anywhere}
.step:target{background:linear-gradient(var(--run-b),var(--run-b)) -20px 0/4px 100% no-repeat}
.log time{white-space:nowrap}
.log td:nth-child(-n+4){white-space:nowrap}
.log td:nth-child(5){min-width:9em}
.log .value{min-width:14em;width:100%}
.sheet th{width:1%;white-space:nowrap;padding-right:24px}
.diff{max-height:initial}
form+.diff,form+.notice{margin-top:12px}
p del{text-decoration:initial}
p ins{text-decoration:initial}
.diff ins{background:var(--ok-b);text-decoration:initial}
.diff del{background:var(--err-b);text-decoration:initial}
.operate{display:flex;flex-wrap:wrap;gap:10px}
.operate details[open]{flex:1 0 100%}
.operate summary{display:inline-block;font-weight:600;padding:8px 16px;border:1px solid var(--edge);border-radius:8px;background:var(--sheet)}
.operate form{margin-top:10px;padding:14px 18px;border:1px solid var(--rule);border-radius:12px;background:var(--sheet)}
@media (min-width:1100px){
main:has(#graph){grid-template-columns:minmax(0,1fr) 420px}
main:has(#graph)>section{grid-column:1/-1}
main:has(#graph)>#graph{grid-column:1}
main:has(#graph)>#end{grid-column:2;align-self:start;max-height:min(88vh,900px);overflow:auto}
}
@media (max-width:640px){
.bar{padding:8px 14px;gap:2px 12px}
.where{flex:1 1 60%;text-align:left;order:8}
#link{order:9}
main{padding:14px 12px 48px;gap:12px}
#graph,#end,#timeline,#steps,#log,#runs,.sheet{padding:12px 14px}
h1{font-size:21px}
.filters label{flex:1 1 40%}
.filters input,.filters select{width:100%}
.runs thead{position:absolute;visibility:hidden}
.runs,.runs tbody{display:block}
.runs tr{display:grid;grid-template-columns:1fr auto;gap:2px 12px;padding:10px 0;border-bottom:1px solid var(--rule)}
.runs tbody td,.runs tbody th{border:0;padding:0}
.runs td:nth-child(n+4),.runs .soft{grid-column:1/-1;font-size:13px;color:var(--mute)}
.runs td:empty{position:absolute;visibility:hidden}
.runs td:nth-child(4)::before{content:"Waits for "}
.runs td:nth-child(5)::before{content:"Owner "}
.runs td:nth-child(6)::before{content:"Started "}
.runs td:nth-child(6){grid-column:1}
.runs td:nth-child(7){grid-column:2}
.runs td:nth-child(3),.runs td:nth-child(7){justify-self:end}
.runs td:nth-child(7)::before{content:"Ended "}
.runs td:nth-child(2){font-weight:600;grid-row:1;grid-column:1}
.runs th{grid-row:2;grid-column:1}
.runs td:nth-child(3){grid-row:1;grid-column:2}
.log thead{position:absolute;visibility:hidden}
.log,.log tbody{display:block}
.log tr{display:grid;grid-template-columns:auto 1fr auto;gap:2px 10px;padding:8px 0;border-bottom:1px solid var(--rule)}
.log tbody td{grid-column:1/-1;border:0;padding:0}
.log tbody td:nth-child(1){grid-area:1/1}
.log tbody td:nth-child(2){grid-area:1/3;color:var(--mute)}
.log tbody td:nth-child(3){grid-area:1/2;font-weight:600}
.log tbody td:empty,.log tbody td:has(code:empty){position:absolute;visibility:hidden}
dl{grid-template-columns:minmax(0,1fr);gap:2px}
dd{margin-bottom:8px}
.timeline th{white-space:normal;overflow-wrap:anywhere;width:32%}
form button{flex:1 0 auto}
}
@media print{
:root{color-scheme:light;--page:#fff;--sheet:#fff;--text:#000;--mute:#444;--rule:#bbb;--accent:#000}
header.bar,.skip,.filters,#operate,.card form,#link,.pages{position:absolute;visibility:hidden}
main{display:block;padding:0;max-width:initial}
section{margin-bottom:12px;break-inside:avoid-page}
#steps,#log,#runs{break-inside:auto}
.graph{max-height:initial;overflow:visible}
pre{max-height:initial}
*{print-color-adjust:exact;-webkit-print-color-adjust:exact}
}
`;
