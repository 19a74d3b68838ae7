#!/bin/sh
# Runs every check that a Mac can do unattended, and packs what each step printed into one archive to send back.
# Asks for nothing and needs no root. All steps run, whatever one of them does, and the archive is made in any case, also
# after Ctrl-C; if a step failed, the exit code is 1. Every file is anonymized before it is packed: without names of the
# user, the home folder and the machine, without paths, ids and serial numbers. Names inside longer words (alicenet.onnx) stay.
# HETTOP, PYTHON, RUNS, PACED_RUNS, LOAD and POWER_FOR can be set from outside.
HETTOP="${HETTOP:-.venv/bin/hettop}"
RUNS="${RUNS:-700}"
PACED_RUNS="${PACED_RUNS:-60}"
LOAD="${LOAD:-cpu:2}"
POWER_FOR="${POWER_FOR:-5s}"
OUT="${1:-hettop-mac-check}"
OUT="${OUT%/}"
PYTHON="${PYTHON:-$(dirname "$(command -v "$HETTOP")")/python}"

if ! "$HETTOP" --version > /dev/null 2>&1 || ! "$PYTHON" -c 'import hettop.cli.anonymize' > /dev/null 2>&1; then
    printf 'error: hettop is not installed: %s\n' "$HETTOP" >&2
    printf 'hint: python3.13 -m venv .venv && .venv/bin/pip install .\n' >&2
    exit 2
fi
# Every file in the folder is rewritten and packed: it must hold nothing else.
if [ -n "$(ls -A "$OUT" 2> /dev/null)" ]; then
    printf 'error: folder is not empty: %s\nhint: remove it, or name another one: sh packaging/mac-check.sh FOLDER\n' "$OUT" >&2
    exit 2
fi
mkdir -p "$OUT" || exit 2
: > "$OUT/summary.txt"
failed=""
stopped=""
trap 'stopped=yes' INT TERM

# step NAME "CODES" COMMAND...: runs it; CODES are the exit codes of a step that succeeded.
step() {
    [ -z "$stopped" ] || return
    name="$1"
    codes="$2"
    shift 2
    printf '%s ... ' "$name"
    "$@" > "$OUT/$name.out" 2> "$OUT/$name.err" < /dev/null
    code=$?
    result="exit $code"
    case " $codes " in
        *" $code "*) ! grep -q '^usage:' "$OUT/$name.err" || result="$result FAILED" ;;  # 2 is also for wrong use
        *) result="$result FAILED" ;;
    esac
    [ "$result" = "exit $code" ] || failed="$failed $name"
    printf '%s\n' "$result"
    printf '%s: %s: %s\n' "$name" "$result" "$*" >> "$OUT/summary.txt"
}

step doctor "0" "$HETTOP" doctor
# By name: where Core ML cannot run, this fails, while the steps that leave the choice to hettop would not.
step bench "0" "$HETTOP" bench --backend coreml --units all --interleave --runs "$RUNS" --record "$OUT/bench.jsonl" --force --json
step load "0" "$HETTOP" bench --load "$LOAD" --runs "$RUNS" --json
step paced "0" "$HETTOP" bench --rate 30 --runs "$PACED_RUNS" --json
step replay "0" "$HETTOP" replay "$OUT/bench.jsonl" --headless --json
step verify "0" "$HETTOP" verify "$OUT/bench.jsonl"
step decide "0" "$HETTOP" decide "$OUT/bench.jsonl" --markdown
# 2: nothing gives power figures without a password, which it says.
step power "0 2" "$HETTOP" power --duration "$POWER_FOR" --json
# 2: no power figures without a password; 3: no rail could be tried.
step control "0 2 3" "$HETTOP" doctor --control --json
# The default model as ONNX, and then by Core ML again: its name must mean the same whatever lies in the cache.
step onnx "0" "$HETTOP" bench --backend onnxruntime --units CPU_ONLY --runs 20 --json
step again "0" "$HETTOP" bench --units all --runs 20 --json
# 2: this Mac, or this virtual machine, has no Neural Engine, which it says.
step plan "0 2" "$HETTOP" plan mobilenetv2 --backend coreml --devices CPU_ONLY,CPU_AND_NE \
    --slices 'CPU_AND_NE_1, CPU_ONLY_40' --run --runs 30 --json

[ -z "$stopped" ] || failed="$failed interrupted"
deleted=""
# All in one process; only where that fails is each file tried by itself, to delete those that cannot be anonymized.
if ! "$PYTHON" -m hettop.cli.anonymize "$OUT"/* 2> /dev/null; then
    for file in "$OUT"/*; do
        "$PYTHON" -m hettop.cli.anonymize "$file" && continue
        rm -f -- "$file"
        deleted="$deleted $(basename "$file")"
    done
fi
if [ -n "$deleted" ]; then
    failed="$failed anonymize"
    printf 'deleted, could not be anonymized:%s\n' "$deleted" >&2
fi
# Numeric owner: the archive would name the user. COPYFILE_DISABLE: extended attributes of macOS stay out.
if COPYFILE_DISABLE=1 tar --numeric-owner -czf "$OUT.tar.gz" -C "$(dirname "$OUT")" "$(basename "$OUT")"; then
    printf 'send %s\n' "$OUT.tar.gz"
else
    failed="$failed archive"
fi
[ -z "$failed" ] && exit 0
printf 'failed:%s (see %s)\n' "$failed" "$OUT/summary.txt" >&2
exit 1
