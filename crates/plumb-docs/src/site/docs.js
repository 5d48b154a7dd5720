// Shows one language at a time, remembers which, and searches. Pages say everything without it.
(function () {
  "use strict";
  var KEY = "plumb-docs-language";
  var root = document.documentElement;

  function remembered() {
    try { return localStorage.getItem(KEY); } catch (error) { return null; }
  }
  function remember(language) {
    try { localStorage.setItem(KEY, language); } catch (error) { /* Some browsers keep nothing for files. */ }
  }
  // At once, before anything is shown.
  root.dataset.lang = remembered() || "typescript";

  document.addEventListener("DOMContentLoaded", function () {
    chooser();
    contents();
    search();
  });

  function chooser() {
    var select = document.getElementById("language");
    if (!select.querySelector('option[value="' + CSS.escape(root.dataset.lang) + '"]')) {
      root.dataset.lang = select.options[0].value;
    }
    select.value = root.dataset.lang;
    select.addEventListener("change", function () {
      // What the reader looks at stays where it is.
      var anchor = atTop();
      var before = anchor ? anchor.getBoundingClientRect().top : 0;
      root.dataset.lang = select.value;
      remember(select.value);
      if (anchor) { window.scrollBy(0, anchor.getBoundingClientRect().top - before); }
    });
    window.addEventListener("storage", function (event) {
      if (event.key === KEY && event.newValue) { select.value = root.dataset.lang = event.newValue; }
    });
  }

  function atTop() {
    var places = document.querySelectorAll("main h2, main h3, .property");
    for (var index = 0; index < places.length; index++) {
      if (places[index].getBoundingClientRect().bottom > 60) { return places[index]; }
    }
    return null;
  }

  // The list of contents is open where there is room beside the text.
  function contents() {
    var details = document.querySelector(".contents details");
    if (!details) { return; }
    var wide = window.matchMedia("(min-width: 64rem)");
    function fit() { details.open = wide.matches; }
    fit();
    wide.addEventListener("change", fit);
    details.addEventListener("click", function (event) {
      if (event.target.closest("a") && !wide.matches) { details.open = false; }
    });
  }

  function search() {
    var input = document.getElementById("search");
    var list = document.getElementById("search-results");
    var active = -1;

    // The list of all pages is only asked for when somebody searches.
    function load(then) {
      if (window.plumbDocs) { then(); return; }
      var script = document.createElement("script");
      script.src = document.body.dataset.search;
      script.onload = then;
      document.head.appendChild(script);
    }
    function rank(entry, words) {
      var name = entry[0].toLowerCase();
      var whole = (entry[2] + " " + entry[0] + " " + entry[1]).toLowerCase();
      for (var index = 0; index < words.length; index++) {
        if (whole.indexOf(words[index]) < 0) { return -1; }
      }
      var last = words[words.length - 1];
      var place = name === last ? 0 : name.indexOf(last) === 0 ? 1 : name.indexOf(last) > 0 ? 2 : 3;
      return place * 2 + (entry[1] === "type" || entry[1] === "enum" ? 1 : 0);
    }
    function find(text) {
      var words = text.toLowerCase().split(/[\s.:/]+/).filter(Boolean);
      if (!words.length) { return []; }
      var found = [];
      window.plumbDocs.forEach(function (entry) {
        var order = rank(entry, words);
        if (order >= 0) { found.push([order, entry]); }
      });
      found.sort(function (one, other) {
        return one[0] - other[0] || one[1][0].length - other[1][0].length || (one[1][3] < other[1][3] ? -1 : 1);
      });
      return found.slice(0, 30).map(function (pair) { return pair[1]; });
    }
    function close() {
      list.hidden = true;
      active = -1;
      input.setAttribute("aria-expanded", "false");
      input.removeAttribute("aria-activedescendant");
    }
    function show() {
      var entries = find(input.value);
      list.textContent = "";
      active = -1;
      entries.forEach(function (entry, index) {
        var item = document.createElement("li");
        var link = document.createElement("a");
        var about = document.createElement("small");
        item.id = "result-" + index;
        item.setAttribute("role", "option");
        link.href = document.body.dataset.root + entry[3].split("/").map(encodeURIComponent).join("/");
        link.tabIndex = -1;
        link.textContent = entry[0];
        about.textContent = entry[1] + (entry[2] ? " in " + entry[2] : "");
        link.appendChild(about);
        item.appendChild(link);
        list.appendChild(item);
      });
      if (!entries.length && input.value.trim()) {
        var none = document.createElement("li");
        none.className = "none";
        none.textContent = "Nothing found";
        list.appendChild(none);
      }
      list.hidden = !input.value.trim();
      input.setAttribute("aria-expanded", String(!list.hidden));
    }
    function move(step) {
      var items = list.querySelectorAll("li[role=option]");
      if (!items.length) { return; }
      if (active >= 0) { items[active].removeAttribute("aria-selected"); }
      active = (active + step + items.length) % items.length;
      items[active].setAttribute("aria-selected", "true");
      items[active].scrollIntoView({ block: "nearest" });
      input.setAttribute("aria-activedescendant", items[active].id);
    }
    input.addEventListener("input", function () { load(show); });
    input.addEventListener("focus", function () { load(function () { if (input.value) { show(); } }); });
    input.addEventListener("keydown", function (event) {
      if (event.key === "ArrowDown") { move(1); event.preventDefault(); }
      else if (event.key === "ArrowUp") { move(-1); event.preventDefault(); }
      else if (event.key === "Escape") { close(); }
      else if (event.key === "Enter") {
        var link = list.querySelector("li[aria-selected=true] a") || list.querySelector("li a");
        if (link && !list.hidden) { event.preventDefault(); link.click(); }
      }
    });
    document.addEventListener("click", function (event) {
      if (!event.target.closest(".search")) { close(); }
    });
    document.addEventListener("keydown", function (event) {
      if (event.key === "/" && !event.target.closest("input, select, textarea")) {
        event.preventDefault();
        input.focus();
      }
    });
  }
})();
