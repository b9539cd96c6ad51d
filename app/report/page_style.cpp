#include "app/report/page_style.h"

namespace orrery {

// The characters & and < would need escapes in XML: it has none of them.
const std::string_view page_style = R"(
:root { color-scheme: light; --ink: #1c232d; --dim: #5b6573; --rule: #d9dde3; --cpu: #b3591a; --gpu: #1f5f9e; }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body { margin: 0; background: #fff; color: var(--ink); font: 1.0625rem/1.55 Charter, 'Bitstream Charter',
  'Iowan Old Style', Georgia, 'Noto Serif', 'DejaVu Serif', serif; }
main, header, footer { max-width: 52rem; margin: 0 auto; padding: 0 1.25rem; }
header { padding-top: 3rem; }
h1 { margin: 0.2rem 0 0.6rem; font-size: 2.1rem; line-height: 1.15; font-weight: 600; letter-spacing: -0.01em;
  overflow-wrap: anywhere; }
h2 { margin: 3rem 0 0.8rem; padding-top: 0.9rem; border-top: 1px solid var(--rule); font-size: 1.35rem;
  line-height: 1.25; font-weight: 600; }
h3 { margin: 2rem 0 0.6rem; font-size: 1.1rem; font-weight: 600; overflow-wrap: anywhere; }
p { margin: 0.6rem 0; overflow-wrap: anywhere; }
.made, .kind, figcaption, caption, table, svg, footer { font-family: system-ui, -apple-system, 'Segoe UI', Roboto,
  'Helvetica Neue', 'Noto Sans', 'DejaVu Sans', sans-serif; }
.kind { margin: 0; color: var(--gpu); font-size: 0.8rem; font-weight: 600; letter-spacing: 0.09em;
  text-transform: uppercase; }
.made { color: var(--dim); font-size: 0.9rem; }
.remark { margin: 1.2rem 0; padding: 0.6rem 0.9rem; border-left: 3px solid var(--cpu); background: #fbf4ee; }
.lead { font-size: 1.125rem; }
figure { margin: 1.6rem 0; }
figure img { display: block; width: 100%; height: auto; border-radius: 4px; }
figcaption { margin-top: 0.6rem; color: var(--dim); font-size: 0.875rem; line-height: 1.45; overflow-wrap: anywhere; }
.scroll { overflow-x: auto; }
table { width: 100%; border-collapse: collapse; font-size: 0.8rem; line-height: 1.35;
  font-variant-numeric: tabular-nums lining-nums; }
caption { margin-bottom: 0.5rem; color: var(--dim); font-size: 0.875rem; text-align: left; overflow-wrap: anywhere; }
th { padding: 0.3rem 0.5rem; border-bottom: 1.5px solid var(--ink); text-align: left; vertical-align: bottom;
  font-weight: 600; }
.results td:first-child { white-space: nowrap; }
td { padding: 0.32rem 0.5rem; border-bottom: 1px solid var(--rule); vertical-align: top; }
th:first-child, td:first-child { padding-left: 0; }
th:last-child, td:last-child { padding-right: 0; }
.number { text-align: right; }
td.number { white-space: nowrap; }
.facts td { overflow-wrap: anywhere; }
.facts td:first-child { width: 11rem; color: var(--dim); overflow-wrap: normal; }
.note { color: var(--dim); font-size: 0.9375rem; }
.none { color: var(--dim); font-style: italic; }
pre { margin: 0.5rem 0 1.2rem; padding: 0.8rem 1rem; border-radius: 4px; background: #f4f5f7; white-space: pre-wrap;
  overflow-wrap: anywhere; font: 0.875rem/1.5 ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace; }
footer { margin: 3rem auto 2.5rem; color: var(--dim); font-size: 0.8rem; }
svg { display: block; width: 100%; min-width: 36rem; height: auto; font-size: 13px; fill: var(--ink); }
svg .tick { fill: var(--dim); font-size: 12px; font-variant-numeric: tabular-nums; }
svg .title { fill: var(--dim); }
svg .name { paint-order: stroke; stroke: #fff; stroke-width: 4px; stroke-linejoin: round; }
svg .strong { font-weight: 600; }
svg .end { text-anchor: end; }
svg .middle { text-anchor: middle; }
svg .grid { stroke: #e7eaee; stroke-width: 1; }
svg .axis { stroke: #8a94a1; stroke-width: 1; }
svg .cpu { fill: var(--cpu); stroke: var(--cpu); stroke-width: 1.6; }
svg .gpu { fill: var(--gpu); stroke: var(--gpu); stroke-width: 1.6; }
svg .hollow { fill: #fff; }
svg .bar { stroke: none; fill-opacity: 0.55; }
svg .whisker { stroke: var(--ink); stroke-width: 1.4; }
svg .front { fill: none; stroke: #77818e; stroke-width: 1.3; stroke-dasharray: 5 4; }
svg .leader { stroke: #a3acb8; stroke-width: 0.9; }
svg .value { fill: var(--ink); font-variant-numeric: tabular-nums; }
polyline.curve { fill: none; stroke: var(--gpu); stroke-width: 1.6; stroke-linejoin: round; }
circle.curve { fill: var(--gpu); }
@media (max-width: 34rem) {
  body { font-size: 1rem; }
  header { padding-top: 1.6rem; }
  h1 { font-size: 1.6rem; }
  .facts td:first-child { width: 7rem; }
}
@media print {
  @page { margin: 16mm; }
  body { font-size: 10.5pt; }
  header { padding-top: 0; }
  main, header, footer { max-width: none; padding: 0; }
  h1, h2, h3 { break-after: avoid; }
  figure, tr, pre { break-inside: avoid; }
  .scroll { overflow: visible; }
  svg { min-width: 0; }
  * { -webkit-print-color-adjust: exact; print-color-adjust: exact; }
}
)";

}  // namespace orrery
