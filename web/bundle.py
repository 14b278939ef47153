#!/usr/bin/env python3
"""Joins the page's modules into one HTML file: bundle.py --source embedded.js --leaflet FOLDER --out page.html

Each module becomes a function that returns its exports; `./source.js` is the module of --source. Styles, scripts and the icon are inside,
and the content security policy allows these alone. The line <!--DATA--> remains for data of the picture."""

import argparse
import base64
import hashlib
import pathlib
import re
import sys

IMPORT = re.compile(r"^import \{([^}]+)\} from '\./([a-z]+\.js)';\n", re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async )?(?:const|function|class) (\w+))", re.MULTILINE)
WEB = pathlib.Path(__file__).parent


def name_of(module):
    return "module_" + module.removesuffix(".js")


def bundle(main, source):
    """The text of one module without imports."""
    texts, done = [], []

    def add(module, above=()):
        if module in above:
            sys.exit(f"bundle.py: {' -> '.join([*above, module])} is a circle")
        if module in done:
            return
        text = (WEB / module).read_text(encoding="utf-8")
        for _, needed in IMPORT.findall(text):
            add(source if needed == "source.js" else needed, (*above, module))
        exports = EXPORT.findall(text)
        text = IMPORT.sub(lambda found: f"const {{{found[1].strip()}}} = {name_of(source if found[2] == 'source.js' else found[2])};\n", text)
        text = EXPORT.sub("", text)
        if wrong := re.search(r"^(?:import|export)\b.*", text, re.MULTILINE):
            sys.exit(f"bundle.py: {module}: cannot join {wrong[0]!r}")
        if module != main:
            text = f"const {name_of(module)} = (() => {{\n{text}return {{{', '.join(exports)}}};\n}})();\n"
        texts.append(text)
        done.append(module)

    add(main)
    return "".join(texts)


def policy_of(*sources):
    return " ".join(f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" for text in sources)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--source", required=True)
    parser.add_argument("--leaflet", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    leaflet = next(file for name in ("leaflet.min.js", "leaflet.js") if (file := arguments.leaflet / name).is_file()).read_text(encoding="utf-8")
    leaflet = re.sub(r"\n?//# sourceMappingURL=.*", "", leaflet)
    licences = [file for file in (arguments.leaflet / "LICENSE", pathlib.Path("/usr/share/doc/libjs-leaflet/copyright")) if file.is_file()]
    if licences:
        leaflet = "/*\n" + licences[0].read_text(encoding="utf-8").replace("*/", "* /") + "*/\n" + leaflet
    leaflet_style = re.sub(r"url\([^)]*\)", "none", (arguments.leaflet / "leaflet.css").read_text(encoding="utf-8"))  # icons that the page does not show
    style = (WEB / "style.css").read_text(encoding="utf-8")
    script = bundle("main.js", arguments.source)
    icon = base64.b64encode((WEB / "icon.svg").read_bytes()).decode()
    for text in (leaflet, script):
        if "</script" in text.lower():
            sys.exit("bundle.py: a script would end early")

    page = (WEB / "page.html").read_text(encoding="utf-8")
    policy = f"default-src 'none'; script-src {policy_of(leaflet, script)}; style-src {policy_of(leaflet_style, style)}; img-src data:; base-uri 'none'; form-action 'none'"
    for old, new in (('<meta charset="utf-8">', f'<meta charset="utf-8">\n<meta http-equiv="Content-Security-Policy" content="{policy}">'),
                     ('href="app/icon.svg"', f'href="data:image/svg+xml;base64,{icon}"'),
                     ('<link rel="stylesheet" href="app/leaflet.css">', f"<style>{leaflet_style}</style>"),
                     ('<link rel="stylesheet" href="app/style.css">', f"<style>{style}</style>"),
                     ('<script src="app/leaflet.js" defer></script>\n', ""),
                     ('<script src="app/main.js" type="module"></script>\n', ""),
                     ('<a href="app/leaflet-licence.txt">Leaflet</a>', "Leaflet"),
                     ("</body>", f'<!--DATA-->\n<script>{leaflet}</script>\n<script type="module">{script}</script>\n</body>')):
        if page.count(old) != 1:
            sys.exit(f"bundle.py: page.html has {old!r} {page.count(old)} times")
        page = page.replace(old, new)
    arguments.out.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
