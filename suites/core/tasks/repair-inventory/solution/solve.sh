#!/bin/bash
# step: I read the manifest and see what a JSON parser says first.
cat manifest.txt; wc -l inventory.json; python3 -m json.tool inventory.json 2>&1 | tail -n 1; head -c 400 inventory.json

# step: One error at a time would take long. The file has one article a line, so I let Python parse each line on its own and show those that fail.
python3 - <<'PY'
import json
for at, line in enumerate(open("inventory.json", "rb").read().splitlines(), 1):
    try:
        text = line.decode("utf-8").strip()
        if not text.endswith("},"):
            raise ValueError("no comma")
        json.loads(text[:-1])
    except ValueError as error:
        print(at, type(error).__name__, str(error)[:40], line)
PY

# step: That is the whole list of damages: BOM, Latin-1 lines, conflicts, remarks, commas, a brace, Python words, bare keys, inner quotes, decimal commas, a raw tab, no final bracket. I write a repair that keeps good lines untouched, and reads the bad ones field by field, since the order of the fields is always the same.
cat > /tmp/repair.py <<'PY'
import ast, json, re

FIELDS = ["id", "name", "price", "stock", "supplier", "shelves", "discontinued"]
PATTERN = re.compile(r"\s*\{\s*" + r",\s*".join(rf"[\"']?{f}[\"']?\s*:\s*(?P<{f}>.*?)" for f in FIELDS) + r"\s*\}?[,\s]*$")

def text_of(raw):
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return raw.decode("latin-1")

def value_of(field, word):
    if field == "price":
        return float(word.replace(",", "."))
    word = {"None": "null", "True": "true", "False": "false"}.get(word, word)
    try:
        return json.loads(word)
    except ValueError:
        pass
    if word[0] == "'" or word[0] == "[":
        return ast.literal_eval(word)
    return word[1:-1]

articles, side = [], None
for raw in open("inventory.json", "rb").read().splitlines():
    line = text_of(raw)
    if line.startswith(("<<<<<<<", "=======", ">>>>>>>")):
        side = {"<": "ours", "=": "theirs", ">": None}[line[0]]
        continue
    if side == "ours" or line.strip() in ("[", "]", "") or line.lstrip().startswith(("//", "#")):
        continue
    line = re.sub(r"(\},?)\s*(//|#).*$", r"\1", line)
    try:
        articles.append(json.loads(line.strip().rstrip(",")))
    except ValueError:
        found = PATTERN.match(line)
        if not found:
            raise SystemExit(f"cannot read {line}")
        articles.append({f: value_of(f, found[f]) for f in FIELDS})
        print("repaired", articles[-1])
open("inventory.json.new", "w", encoding="utf-8").write(
    "[\n" + ",\n".join("  " + json.dumps(a, ensure_ascii=False) for a in articles) + "\n]\n")
print(len(articles))
PY
python3 /tmp/repair.py

# step: 96 articles, and the repaired lines read well. Before I replace the file, I check types, ids and the legal occurrences of // and # that must not have been cut.
python3 - <<'PY'
import json
new = json.load(open("inventory.json.new", encoding="utf-8"))
print([a["id"] for a in new] == [f"W-{n:04d}" for n in range(1, 97)])
print({f: sorted({type(a[f]).__name__ for a in new}) for f in new[0]}, {len(a) for a in new})
print([a["name"] for a in new if not a["name"].replace(", ", "").replace(" ", "").replace("-", "").isalnum()])
PY

# step: All good. I put it in place, remove the draft and my script, and parse the final file once more.
mv inventory.json.new inventory.json && rm -f /tmp/repair.py && python3 -m json.tool inventory.json > /dev/null && echo valid && ls
