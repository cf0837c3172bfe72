"""The one style sheet: light and dark, wide and narrow, screen and paper.

Colours of series differ in lightness as well as in hue, so they are told apart without colour vision; text keeps a
contrast of 4.5 to 1 or more on its background in both schemes.
"""

from __future__ import annotations

__all__ = ["SHEET"]

SHEET = """
:root{--paper:#f6f7f9;--card:#fff;--ink:#16202c;--soft:#556274;--rule:#dde3ea;--good:#0f7a4d;--good-paper:#e5f5ec;
--bad:#b3261e;--bad-paper:#fdeceb;--series-0:#e08a1e;--series-1:#1f5fbf;--series-2:#7b8794;--series-3:#16202c}
@media (prefers-color-scheme:dark){:root{--paper:#0f141a;--card:#171e27;--ink:#e8edf3;--soft:#9fadbd;--rule:#2a3441;
--good:#5fd39b;--good-paper:#12301f;--bad:#ff8f86;--bad-paper:#3a1714;--series-0:#f5b04c;--series-1:#5b93e6;
--series-2:#8c99a8;--series-3:#e8edf3}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--paper);color:var(--ink);
font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
main{max-width:1040px;margin:0 auto;padding:32px 20px 8px}
footer{max-width:1040px;margin:0 auto;padding:8px 20px 40px;color:var(--soft);font-size:14px}
h1{font-size:30px;line-height:1.2;margin:0 0 6px;letter-spacing:-.01em}
h2{font-size:20px;margin:44px 0 4px}
h3{font-size:16px;margin:0}
p{margin:0 0 10px}
code,.mono{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:.92em}
.kicker{color:var(--soft);margin:0 0 8px;font-size:14px}
.lead{color:var(--soft);max-width:72ch}
.verdict{border-radius:10px;padding:14px 18px;margin:18px 0;font-weight:600}
.verdict p{margin:0}
.good{background:var(--good-paper);color:var(--good)}
.bad{background:var(--bad-paper);color:var(--bad)}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(154px,1fr));gap:12px;margin:0;padding:0}
.tiles div{background:var(--card);border:1px solid var(--rule);border-radius:10px;padding:12px 14px}
.tiles dt{color:var(--soft);font-size:13px}
.tiles dd{margin:2px 0 0;font-size:22px;white-space:nowrap;font-weight:650;line-height:1.2;
font-variant-numeric:tabular-nums}
.tiles dd small{display:block;white-space:normal;font-size:13px;font-weight:400;color:var(--soft);line-height:1.4}
figure{background:var(--card);border:1px solid var(--rule);border-radius:10px;margin:14px 0;padding:16px 18px}
figcaption p{color:var(--soft);margin:2px 0 6px;font-size:15px}
.legend{list-style:none;display:flex;flex-wrap:wrap;gap:4px 18px;margin:0 0 4px;padding:0;font-size:14px}
.key{display:inline-block;width:12px;height:12px;border-radius:3px;margin-right:6px;vertical-align:-1px}
.chart{display:block;width:100%;height:auto}
.narrow{display:none}
.chart text{fill:var(--soft);font-size:12px;font-variant-numeric:tabular-nums}
.chart text.moment{fill:var(--ink);font-size:11px;stroke:var(--card);stroke-width:3px;paint-order:stroke}
.chart .grid{stroke:var(--rule)}
.chart .axis{stroke:var(--soft)}
.chart line.moment{stroke:var(--series-3);stroke-dasharray:3 3;stroke-opacity:.65;stroke-width:1.2}
.chart .area{stroke:none}
.chart .line{fill:none;stroke-width:2;stroke-linejoin:round}
.area.series-0{fill:var(--series-0)}.area.series-1{fill:var(--series-1)}.area.series-2{fill:var(--series-2)}
.line.series-0{stroke:var(--series-0)}.line.series-1{stroke:var(--series-1)}.line.series-2{stroke:var(--series-2)}
.key.series-0{background:var(--series-0)}.key.series-1{background:var(--series-1)}.key.series-2{background:var(--series-2)}
details{margin-top:8px;font-size:14px}
summary{cursor:pointer;color:var(--soft)}
.scroll{overflow-x:auto}
.scroll:focus-visible,summary:focus-visible{outline:2px solid var(--series-1);outline-offset:2px}
details .scroll{max-height:320px;overflow-y:auto}
table{border-collapse:collapse;width:100%;font-size:14.5px}
caption{text-align:left;color:var(--soft);font-size:13px;padding:6px 0}
th,td{text-align:left;vertical-align:top;padding:7px 12px 7px 0;border-bottom:1px solid var(--rule);font-weight:400}
thead th{color:var(--soft);font-size:13px;white-space:nowrap}
tbody th{font-weight:600}
.numeric th+th,.numeric td{text-align:right;font-variant-numeric:tabular-nums}
.steps,.facts,.losses{list-style:none;margin:10px 0;padding:0}
.steps li{display:grid;grid-template-columns:minmax(0,1fr) auto;gap:2px 14px;padding:10px 0;
border-bottom:1px solid var(--rule)}
.steps .took{text-align:right;white-space:nowrap;color:var(--soft);font-variant-numeric:tabular-nums}
.steps .track{grid-column:1/-1;height:6px;border-radius:3px;background:var(--rule);position:relative;overflow:hidden}
.steps .track span{position:absolute;top:0;bottom:0;border-radius:3px;background:var(--series-1);min-width:2px}
.steps p{grid-column:1/-1;margin:0;color:var(--soft);font-size:14.5px;overflow-wrap:anywhere}
.facts li{display:grid;grid-template-columns:26px minmax(0,1fr);padding:9px 0;border-bottom:1px solid var(--rule)}
.facts p{margin:0}
.facts p+p{color:var(--soft);font-size:14.5px}
.mark{font-weight:700}
.facts .holds .mark{color:var(--good)}
.facts .fails .mark,.losses li{color:var(--bad)}
.losses li{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:13.5px;padding:3px 0;
overflow-wrap:anywhere}
.unseen{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
@media (max-width:620px){main{padding:20px 14px 4px}footer{padding:8px 14px 28px}h1{font-size:24px}
.wide{display:none}.narrow{display:block}figure{padding:12px}.tiles dd{font-size:20px}}
@media print{:root{--paper:#fff}figure,.steps li,.facts li{break-inside:avoid}details{display:none}}
"""
