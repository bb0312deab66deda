/**
 * The style of forms, in light and dark colours. Fields are 16 px and more: a phone does not zoom in on them.
 * Around a form, `button.send` is the one that sends it.
 */
export const FORM_STYLE = `
.form,.send{--ink:#1b202b;--soft:#566072;--edge:#7d8798;--quiet:#d4d9e1;--field:#fff;--blue:#1f5fd0;--on-blue:#fff;--mild:#eef3fd;--red:#b3261e;--bad:#fdecea;color-scheme:light;font:16px/1.45 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
@media (prefers-color-scheme:dark){.form,.send{--ink:#e6e9ef;--soft:#a4adbc;--edge:#788395;--quiet:#363d49;--field:#15181e;--blue:#7fb0ff;--on-blue:#0d1420;--mild:#1c2940;--red:#ff9b94;--bad:#3a1d1c;color-scheme:dark}}
.form{color:var(--ink);display:grid;gap:20px;min-width:0}
.form *{box-sizing:border-box}
.form .field{display:grid;gap:6px;min-width:0;margin:0;padding:0;border:0}
.form label,.form legend{font-weight:600;padding:0;overflow-wrap:anywhere}
.form legend{margin-bottom:6px}
.form .mark{font-weight:400;font-size:14px;color:var(--soft)}
.form p{margin:0;overflow-wrap:anywhere;white-space:pre-line}
.form .hint{font-size:14px;color:var(--soft)}
.form .fault{font-size:15px;font-weight:600;color:var(--red)}
.form input,.form select,.form textarea,.form button,.send{font:inherit;color:var(--ink)}
.form input:not([type=radio],[type=checkbox]),.form select,.form textarea{width:100%;min-height:44px;padding:9px 12px;border:1px solid var(--edge);border-radius:8px;background:var(--field)}
.form textarea{field-sizing:content;max-height:60vh;resize:vertical}
.form .code{font-family:ui-monospace,"SF Mono",Menlo,Consolas,monospace}
.form [aria-invalid]:not(fieldset){border-color:var(--red);box-shadow:0 0 0 1px var(--red)}
.form :focus-visible,.send:focus-visible{outline:3px solid var(--blue);outline-offset:2px}
.form fieldset:focus{outline:0}
.form .options{display:flex;flex-wrap:wrap;gap:8px}
.form .option{display:flex;align-items:center;gap:10px;min-height:44px;padding:8px 14px;border:1px solid var(--edge);border-radius:8px;background:var(--field);font-weight:400;cursor:pointer}
.form .option:has(:checked){border-color:var(--blue);background:var(--mild);box-shadow:0 0 0 1px var(--blue)}
.form .option input{width:18px;height:18px;margin:0;flex:0 0 auto;accent-color:var(--blue)}
.form .group,.form .list .row:has(.field .field){display:grid;gap:16px;padding-left:16px;border-left:3px solid var(--quiet)}
.form .list{gap:10px}
.form .row{display:grid;gap:8px;min-width:0}
.form .row .group{padding:0;border:0}
.form .row>.field>label,.form .row>.choice>legend{font-size:14px;color:var(--soft)}
.form button{justify-self:start;min-height:44px;padding:8px 14px;border:1px solid var(--edge);border-radius:8px;background:transparent;cursor:pointer}
.form .remove{min-height:36px;padding:4px 10px;font-size:14px;border-color:transparent;color:var(--soft);text-decoration:underline}
.form .faults{padding:12px 16px;border-left:4px solid var(--red);border-radius:4px;background:var(--bad)}
.form .faults p{font-weight:600}
.form .faults ul{margin:6px 0 0;padding-left:20px}
.form .faults a{color:inherit;font-weight:600}
.form .hidden{position:absolute;width:1px;height:1px;min-height:0;padding:0;border:0;margin:-1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.send{min-height:48px;padding:10px 28px;border:0;border-radius:8px;background:var(--blue);color:var(--on-blue);font-weight:600;cursor:pointer}
`;
