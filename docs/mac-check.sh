#!/bin/sh
# What a Mac owner runs once, and sends back: every step's output and exit code in one folder and one archive.
# Asks for nothing, needs no root, and goes on whatever a step does. HETTOP, RUNS, PACED_RUNS and POWER_FOR can be set
# from outside.
HETTOP="${HETTOP:-.venv/bin/hettop}"
RUNS="${RUNS:-700}"
PACED_RUNS="${PACED_RUNS:-60}"
POWER_FOR="${POWER_FOR:-5s}"
OUT="${1:-hettop-mac-check}"

mkdir -p "$OUT" || exit 2
: > "$OUT/summary.txt"

step() {
    name="$1"
    shift
    printf '%s ... ' "$name"
    "$@" > "$OUT/$name.out" 2> "$OUT/$name.err" < /dev/null
    code=$?
    printf 'exit %s\n' "$code"
    printf '%s: exit %s: %s\n' "$name" "$code" "$*" >> "$OUT/summary.txt"
}

step doctor "$HETTOP" doctor --anonymize
step bench "$HETTOP" bench --units all --interleave --runs "$RUNS" --record "$OUT/all.jsonl" --force --json
step load "$HETTOP" bench --load cpu:2 --runs "$RUNS" --json
step paced "$HETTOP" bench --rate 30 --runs "$PACED_RUNS" --json
step replay "$HETTOP" replay "$OUT/all.jsonl" --headless --json
step verify "$HETTOP" verify "$OUT/all.jsonl"
step decide "$HETTOP" decide "$OUT/all.jsonl" --anonymize --markdown
step power "$HETTOP" power --duration "$POWER_FOR" --json
step again "$HETTOP" bench --units all --runs 20 --json
step plan "$HETTOP" plan mobilenetv2 --backend coreml --devices CPU_ONLY,CPU_AND_NE \
    --slices 'CPU_AND_NE_1, CPU_ONLY_40' --run --runs 30 --json

tar -czf "$OUT.tar.gz" "$OUT" && printf 'send %s\n' "$OUT.tar.gz"
