/** Name of the highlight in CSS. */
const NAME = 'grid-search'

/** Maximum number of marks, enough to fill the screen. */
const MAX_MARKS = 2000

/**
 * Highlights a text in the cells of a grid until the returned function is called. Uses the CSS Custom Highlight API,
 * so no cell renders again; browsers without it show no marks.
 */
export function highlightText(root: Element, text: string): () => void {
  const needle = text.trim().toLocaleLowerCase()
  if (needle === '' || !('highlights' in CSS)) return () => {}
  let frame = 0
  const mark = () => {
    frame = 0
    CSS.highlights.set(NAME, new Highlight(...rangesOf(root, needle)))
  }
  const markSoon = () => {
    if (frame === 0) frame = requestAnimationFrame(mark)
  }
  const observer = new MutationObserver(markSoon)
  observer.observe(root, { childList: true, subtree: true, characterData: true })
  mark()
  return () => {
    observer.disconnect()
    cancelAnimationFrame(frame)
    CSS.highlights.delete(NAME)
  }
}

function rangesOf(root: Element, needle: string): Range[] {
  const ranges: Range[] = []
  for (const cell of root.querySelectorAll('[data-part="cell"]')) {
    const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT)
    for (let node = walker.nextNode(); node && ranges.length < MAX_MARKS; node = walker.nextNode()) {
      const text = node.nodeValue ?? ''
      const lower = text.toLocaleLowerCase()
      // Lower-casing may change the length ("İ"), which would shift the positions.
      if (lower.length !== text.length) continue
      for (let at = lower.indexOf(needle); at >= 0; at = lower.indexOf(needle, at + needle.length)) {
        const range = new Range()
        range.setStart(node, at)
        range.setEnd(node, at + needle.length)
        ranges.push(range)
      }
    }
  }
  return ranges
}
