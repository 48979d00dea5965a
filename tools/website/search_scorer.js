// What the site's search shows first: https://www.sphinx-doc.org/en/master/usage/configuration.html#confval-html_search_scorer
// The numbers are Sphinx's own. Sphinx gives a page the points of a title for a word in the heading of any of its sections;
// here only the title that the reader sees counts, and a component comes before a guide that has the words in its text.
"use strict";
var Scorer = {
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
  score: ([page, title, , , score]) => {
    const words = (new URLSearchParams(location.search).get("q") || "").toLowerCase().split(/\W+/);
    const named = words.some((word) => word.length > 2 && title.toLowerCase().includes(word));
    if (/^reference\/(aws|azure|kubernetes)-/.test(page)) return score + (named ? 9 : 7);
    // Decisions, logs and files explain what a reader looks for last.
    if (/^(docs\/decisions\/|files\/|CHANGELOG|CONTRIBUTING)/.test(page)) return score - 20;
    return named ? score : Math.min(score, Scorer.term + 1);
  },
};
