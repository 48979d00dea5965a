# The process of a pod that fetches a URL onto the shared volume.
#   sh -c TEXT fetch ROOT URL PATH SHA256 PAUSE
# SHA256 is empty where nobody has given one. PAUSE: seconds before the next try, and between lines on how far it is.
# The bytes arrive in PATH.gpufleet-part, which a later try continues, and take the name when they are whole.
# Source of curl's exit codes: curl.se/docs/manpage.html (EXIT CODES); 22 covers every answer from 400 on, and 416 comes
# for a part that is whole already (curl/curl#6740).

sum() { sha256sum <"$1" | cut -d ' ' -f 1; }
# 0 of a file that is not there, or has just taken its name.
size() { { wc -c <"$1" || echo 0; } 2>/dev/null | tr -d ' '; }
leave() {
    echo "$1" >&2
    exit 1
}

# A path that begins with - is no option.
root=$1 url=$2 path=./$3 wanted=$4 pause=$5
part=$path.gpufleet-part
cd "$root" && mkdir -p "$(dirname "$path")" || exit 1
if [ "$wanted" ] && [ -f "$path" ] && [ "$(sum "$path")" = "$wanted" ]; then
    echo "fetched $(size "$path") 0 $wanted"
    exit 0
fi
while sleep "$pause"; do echo "at $(size "$part")"; done &
trap "kill $! 2>/dev/null" EXIT
began=$(size "$part") before=$began failures=0
while :; do
    answer=$(curl --silent --show-error --globoff --fail --location --proto '=https,http' --continue-at - --output "$part" \
        --write-out '%{http_code}' "$url")
    code=$?
    [ "$code" != 0 ] || break
    case $code:$answer in
    22:416 | 33:*)
        # Whole already, or of a server that continues nothing: once more from its first byte, if it is not whole.
        if [ "$code" = 22 ] && [ "$wanted" ] && [ "$(sum "$part")" = "$wanted" ]; then break; fi
        rm -f "$part"
        began=0
        ;;
    22:408 | 22:429 | 22:5??) ;;
    22:*) leave "the server answers $answer" ;;
    1:* | 3:* | 23:* | 60:*) leave "curl ends with $code, see the line before" ;;
    esac
    now=$(size "$part")
    [ "$now" -le "$before" ] || failures=0
    before=$now failures=$((failures + 1))
    [ "$failures" -lt 10 ] || leave "10 tries in a row brought nothing"
    sleep "$pause"
done
found=$(sum "$part")
if [ "$wanted" ] && [ "$found" != "$wanted" ]; then
    rm -f "$part"
    leave "its SHA-256 is $found, and --sha256 says $wanted"
fi
whole=$(size "$part")
mv "$part" "$path" || exit 1
echo "fetched $whole $((whole - began)) $found"
