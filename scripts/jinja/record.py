"""Records what Python's Jinja2 makes of generated templates: `python scripts/jinja/record.py > test/jinja/recorded.jsonl`.

The first line has the time and the contexts; every other line is a case.

It needs Python with Jinja2 3.1, and is run by hand when the language grows: the tests read the recorded file.
"""

import datetime
import hashlib
import json
import random
import re
import sys

from jinja2 import ChainableUndefined
from jinja2.sandbox import ImmutableSandboxedEnvironment

COUNT = 2000
NOW = datetime.datetime(2025, 8, 19, 14, 30, 5, tzinfo=datetime.timezone.utc)


class Strict(ChainableUndefined):
    """Chains, has no items, equals what is not there, and is an error in a text or a calculation."""

    def _fail(self, *_):
        self._fail_with_undefined_error()

    __str__ = __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _fail
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = __neg__ = __int__ = __float__ = _fail


env = ImmutableSandboxedEnvironment(undefined=Strict)
env.globals.update(now=lambda: NOW)


def regex_search(text, pattern):
    match = re.search(pattern, text)
    if match is None:
        return []
    return list(match.groups()) if match.re.groups else [match.group(0)]


def boolean(value):
    if isinstance(value, str):
        text = value.strip().lower()
        if text in ("true", "yes", "on", "1"):
            return True
        if text in ("false", "no", "off", "0", ""):
            return False
        raise ValueError(value)
    return bool(value)


def to_json(value, indent=None):
    return json.dumps(value, indent=indent, ensure_ascii=False)


env.filters.update(
    regex_search=regex_search,
    regex_findall=lambda text, pattern: [list(m) if isinstance(m, tuple) else m for m in re.findall(pattern, text)],
    regex_replace=lambda text, pattern, by: re.sub(pattern, by, text),
    parse_json=json.loads,
    hash=lambda text: hashlib.sha256(text.encode()).hexdigest(),
    split=lambda text, sep=None, maxsplit=-1: text.split(sep, maxsplit),
    strip=lambda text, chars=None: text.strip(chars),
    bool=boolean,
    tojson=to_json,
)
env.tests.update(greaterthan=lambda a, b: a > b, lessthan=lambda a, b: a < b)

TEXTS = ["", "a", "Hello World", "  pad  ", "x,y,,z", "it's", 'say "hi"', "line\none", "äöü ß", "CamelCase fooBar", "3.7", "42", "-5", "tab\there", "a-b_c", "日本語", "true", "<b>&</b>"]
NUMBERS = [0, 1, 2, 3, 7, -4, 10, 42, 1000, 2.5, -0.5, 0.1, 3.14159, 2.675, 1234567.891, 1e-7]


def context(r):
    people = [
        {"name": r.choice(["Ann", "bob", "Cy", "dee"]), "age": r.choice([1, 20, 33, 33, 70]), "tags": r.sample(["x", "y", "z"], r.randint(0, 3)), "ok": r.random() < 0.5}
        for _ in range(r.randint(0, 4))
    ]
    return {
        "state": {
            "t": r.choice(TEXTS), "u": r.choice(TEXTS), "n": r.choice(NUMBERS), "m": r.choice(NUMBERS),
            "l": [r.choice([1, 2, 3, 3, 5, 8]) for _ in range(r.randint(0, 5))],
            "w": [r.choice(["b", "a", "C", "a", "dd"]) for _ in range(r.randint(0, 5))],
            "d": {k: r.choice([1, 2, "v", None, True]) for k in r.sample(["k", "j", "i"], r.randint(0, 3))},
            "p": people, "nul": None, "yes": True, "no": False, "deep": {"a": {"b": [1, {"c": "end"}]}},
        },
        "inputs": {"name": r.choice(TEXTS), "count": r.choice([0, 1, 5])},
    }


def text(r, d):
    base = ["state.t", "state.u", "inputs.name", repr(r.choice(TEXTS[:6])), "'a b c'"]
    if d <= 0:
        return r.choice(base)
    s = text(r, d - 1)
    return r.choice([
        *base,
        f"{s} | upper", f"{s} | lower", f"{s} | capitalize", f"{s} | title", f"{s} | trim", f"{s} | strip", f"{s} | replace('a', 'b')",
        f"{s} | replace('l', '', 1)", f"({s}).strip()", f"({s}).upper()", f"({s}).replace('o', '0')", f"({s}).title()", f"({s}).swapcase()",
        f"({s}).zfill({r.randint(0, 9)})", f"({s}).center({r.randint(0, 12)}, '*')", f"({s}).ljust(6) ~ '|'", f"({s}).rjust(6, '.')",
        f"({s}).removeprefix('a')", f"({s}).removesuffix('d')", f"({s}) ~ {num(r, d - 1)}", f"({s}) + ({text(r, d - 1)})", f"({s}) * {r.randint(0, 3)}",
        f"({s})[{r.randint(0, 3)}:]", f"({s})[:-1]", f"({s})[::2]", f"({s})[::-1]", f"{s} | reverse", f"{s} | truncate({r.randint(4, 9)}, true)",
        f"{s} | truncate({r.randint(4, 9)})", f"{s} | wordcount | string", f"{s} | escape", f"{s} | urlencode", f"{s} | indent(2)", f"{s} | center(12)",
        f"({lst(r, d - 1)}) | join('-')", f"({lst(r, d - 1)}) | join", f"'%s=%s' | format({s}, {num(r, d - 1)})", f"'{{}}:{{}}'.format({s}, {num(r, d - 1)})",
        f"({num(r, d - 1)}) | string", f"({any_(r, d - 1)}) | string", f"{s} if {cond(r, d - 1)} else {text(r, d - 1)}", f"({s}) or 'none'",
        f"{s} | regex_replace('[aeiou]', '*')", f"{s} | regex_replace('(\\\\w)(\\\\w)', '\\\\2\\\\1')", f"({any_(r, d - 1)}) | tojson", f"{s} | default('q')",
        f"state.missing | default({s})", f"{s} | hash", f"now().strftime('%Y-%m-%d %H:%M')", f"{s} | striptags", f"{s} | wordwrap(5)", f"{s} | d('x', true)",
        f"({num(r, d - 1)}) | filesizeformat", f"({s}).partition('a') | join('/')", f"({s}).expandtabs(4)", f"{s} | first | default('-')",
    ])


def num(r, d):
    base = ["state.n", "state.m", "inputs.count", str(r.choice(NUMBERS[:9])), str(r.choice(NUMBERS[9:14]))]
    if d <= 0:
        return r.choice(base)
    a, b = num(r, d - 1), num(r, d - 1)
    return r.choice([
        *base,
        f"({a}) + ({b})", f"({a}) - ({b})", f"({a}) * ({b})", f"({a}) / ({b})", f"({a}) // ({b})", f"({a}) % ({b})", f"({a}) ** 2", f"-({a})",
        f"({a}) | abs", f"({a}) | round", f"({a}) | round({r.randint(0, 3)})", f"({a}) | round({r.randint(0, 2)}, '{r.choice(['ceil', 'floor'])}')", f"({a}) | int", f"({a}) | float",
        f"({text(r, d - 1)}) | length", f"({lst(r, d - 1)}) | length", f"({text(r, d - 1)}) | int", f"({text(r, d - 1)}) | float", f"({text(r, d - 1)}) | int(7)",
        "state.l | sum", "state.l | max | default(0)", "state.l | min | default(0)", "state.p | sum(attribute='age')", f"({text(r, d - 1)}).count('a')", f"({text(r, d - 1)}).find('o')",
        f"({a}) if {cond(r, d - 1)} else ({b})", "state.l | first | default(0)", "state.l | last | default(0)", f"state.l.count(3)", "state.p | map(attribute='age') | max | default(0)",
    ])


def lst(r, d):
    base = ["state.l", "state.w", "[1, 'a', none]", "[]", "state.p | map(attribute='name') | list"]
    if d <= 0:
        return r.choice(base)
    a = lst(r, d - 1)
    return r.choice([
        *base,
        "state.l | sort", "state.w | sort", "state.w | sort(reverse=true)", "state.w | sort(case_sensitive=true)", f"({a}) | reverse | list", f"({a}) | list", f"({a})[1:]", f"({a})[::-1]",
        f"({a}) + ({lst(r, d - 1)})", "state.l | unique | list", "state.w | unique | list", "state.l | select('odd') | list", "state.l | reject('even') | list", "state.l | select('greaterthan', 2) | list",
        "state.w | map('upper') | list", "state.w | map('replace', 'a', 'o') | list", "state.l | map('string') | list", f"({text(r, d - 1)}).split()", f"({text(r, d - 1)}).split(',')", f"({text(r, d - 1)}).split('o', 1)",
        f"({text(r, d - 1)}).rsplit(' ', 1)", f"({text(r, d - 1)}).splitlines()", f"({text(r, d - 1)}) | list", f"({text(r, d - 1)}) | split", "state.p | selectattr('ok') | map(attribute='name') | list", "state.p | rejectattr('ok') | map(attribute='age') | list",
        "state.p | selectattr('age', 'greaterthan', 20) | map(attribute='name') | list", "state.p | map(attribute='tags') | map('join', '+') | list", "state.p | sort(attribute='name') | map(attribute='name') | list",
        "state.p | sort(attribute='age,name') | map(attribute='name') | list", "state.l | batch(2) | map('list') | list", "state.l | batch(2, 0) | map('list') | list", "state.l | slice(2) | map('list') | list", f"range({r.randint(0, 5)}) | list", f"range(1, 10, {r.randint(1, 4)}) | list",
        f"({text(r, d - 1)}) | regex_findall('[a-z]+')", f"({text(r, d - 1)}) | regex_search('(\\\\w)(\\\\w)')", "state.d.keys() | list", "state.d.values() | list", "state.d | list", f"[{num(r, d - 1)}, {text(r, d - 1)}]",
    ])


def cond(r, d):
    base = ["state.yes", "state.no", "state.nul is none", "state.missing is defined", "state.t is defined", "true"]
    if d <= 0:
        return r.choice(base)
    a, b = num(r, d - 1), num(r, d - 1)
    s, t = text(r, d - 1), text(r, d - 1)
    return r.choice([
        *base,
        f"({a}) > ({b})", f"({a}) <= ({b})", f"({a}) == ({b})", f"({a}) != ({b})", f"1 < ({a}) < 10", f"({s}) == ({t})", f"({s}) < ({t})", f"({s}) in ({t})", f"2 in state.l", f"'a' not in state.w", "'k' in state.d",
        f"not ({cond(r, d - 1)})", f"({cond(r, d - 1)}) and ({cond(r, d - 1)})", f"({cond(r, d - 1)}) or ({cond(r, d - 1)})", f"({a}) is number", f"({s}) is string", f"({a}) is integer", f"({a}) is float", f"({any_(r, d - 1)}) is mapping",
        f"({any_(r, d - 1)}) is none", f"({s}).startswith('a')", f"({s}).endswith('d')", f"({s}).isdigit()", f"({s}).isalpha()", f"({s}).islower()", f"({s}) is upper", f"({any_(r, d - 1)}) is boolean", f"({any_(r, d - 1)}) is iterable", f"state.l == [1, 2]", "true == 1", "state.nul == 0", "2 is divisibleby 2",
        f"({lst(r, d - 1)}) == ({lst(r, d - 1)})", f"({s}) is eq ({t})", f"({a}) is gt ({b})",
    ])


def any_(r, d):
    return r.choice([text, num, lst, lambda r, d: f"({cond(r, d)})", lambda r, d: "state.d", lambda r, d: "state.nul", lambda r, d: "state.deep.a.b[1]", lambda r, d: "state.deep.a.b[1].c", lambda r, d: f"{{'a': {num(r, d)}, 'b': {text(r, d)}}}"])(r, d)


def block(r, d):
    a = any_(r, 2)
    if d <= 0:
        return r.choice(["plain ", "{{ %s }}" % a, " and ", "\n", "{# note #}", "{% raw %}{{ x }}{% endraw %}"])
    inner = block(r, d - 1)
    return r.choice([
        "{{ %s }}" % a, "text {{ %s }} more" % a, "{{ %s }}{{ %s }}" % (a, any_(r, 1)), "{%% if %s %%}%s{%% else %%}%s{%% endif %%}" % (cond(r, 2), inner, block(r, d - 1)),
        "{%% if %s %%}A{%% elif %s %%}B{%% endif %%}%s" % (cond(r, 1), cond(r, 1), inner), "{%% for x in %s %%}{{ x }}{%% if not loop.last %%}, {%% endif %%}{%% else %%}nothing{%% endfor %%}" % lst(r, 2),
        "{%% for x in %s %%}{{ loop.index }}/{{ loop.length }}:{{ x }};%s{%% endfor %%}" % (lst(r, 1), inner), "{% for k, v in state.d.items() %}{{ k }}={{ v }} {% endfor %}", "{% for p in state.p if p.age > 10 %}{{ p.name }}({{ loop.index0 }}){% endfor %}",
        "{%% set q = %s %%}%s{{ q }}" % (a, inner), "{%% with z = %s %%}{{ z }}{%% endwith %%}%s" % (a, inner), "{%% filter upper %%}%s{%% endfilter %%}" % inner, "  {%%- if %s -%%}  %s  {%%- endif %%} end" % (cond(r, 1), inner),
        "{%% set q = 1 %%}{%% if %s %%}{%% set q = 2 %%}{%% endif %%}{{ q }}" % cond(r, 1), "{% for x in state.w %}{{ loop.cycle('o', 'e') }}{{ loop.revindex }}{% endfor %}", "{% for a in state.l %}{% for b in state.w %}{{ a }}{{ b }} {% endfor %}{% endfor %}",
        "{% for key, items in state.p | groupby('age') %}{{ key }}:{{ items | map(attribute='name') | join(',') }};{% endfor %}", "{% for k, v in state.d | dictsort %}{{ k }}{% endfor %}",
    ])


def plain(value):
    """JSON, or None where it has a kind that JSON does not have."""
    if isinstance(value, (str, bool)) or value is None:
        return True
    if isinstance(value, (int, float)):
        return value == value and abs(value) < 2**53
    if isinstance(value, list):
        return all(map(plain, value))
    return isinstance(value, dict) and all(isinstance(k, str) and plain(v) for k, v in value.items())


def main():
    cases = []
    r = random.Random(20250819)
    contexts = [context(r) for _ in range(40)]
    while len(cases) < COUNT:
        mode = r.choice(["native", "text"])
        template = "{{ %s }}" % any_(r, 3) if mode == "native" else "".join(block(r, 2) for _ in range(r.randint(1, 3)))
        if len(template) > 600:
            continue
        index = r.randrange(len(contexts))
        data = contexts[index]
        try:
            if mode == "native":
                value = env.compile_expression(template[2:-2].strip(), undefined_to_none=False)(**data)
                if isinstance(value, Strict):
                    continue
                if not plain(value):
                    continue
                expected = {"value": value}
            else:
                expected = {"value": env.from_string(template).render(**data)}
        except Exception as error:  # every kind of error is one to us
            if r.random() > 0.15:
                continue
            expected = {"error": type(error).__name__}
        cases.append({"mode": mode, "template": template, "context": index, "expected": expected})
    for line in [{"now": NOW.isoformat(), "contexts": contexts}, *cases]:
        sys.stdout.write(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n")


main()
