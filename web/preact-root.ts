import { options, type VNode } from 'preact'

/*
 * Replaces `react-dom/client` in bundles that use Preact instead of React (`PREACT` in `scripts/build-web.ts`), and
 * restores what components expect of React where Preact differs.
 */
export { createRoot } from 'preact/compat/client'

// Effects run right after the render, as React's do after a key press or click. Preact would wait for the next
// frame, and a key that follows would still reach the element that had the focus before.
options.requestAnimationFrame = queueMicrotask

const focused = new WeakSet<Element>()

const normalize = options.vnode
options.vnode = (vnode) => {
  if (typeof vnode.type === 'string') {
    focusOnMount(vnode)
    keepSpellCheck(vnode)
  }
  normalize?.(vnode)
}

/** Focuses elements with `autoFocus` when they appear. Browsers do so only for the first one of a page. */
function focusOnMount(vnode: VNode): void {
  const props = vnode.props as { autoFocus?: boolean }
  if (!props.autoFocus) return
  props.autoFocus = false
  const { ref } = vnode
  vnode.ref = (element: Element | null) => {
    const cleanUp = typeof ref === 'function' ? ref(element) : undefined
    if (ref && typeof ref === 'object') ref.current = element
    if (element instanceof HTMLElement && !focused.has(element)) {
      focused.add(element)
      element.focus()
    }
    return cleanUp
  }
}

/** Writes `spellcheck="false"`. Preact would remove an attribute that is false, which means true here. */
function keepSpellCheck(vnode: VNode): void {
  const props = vnode.props as { spellCheck?: boolean | 'true' | 'false' }
  if (props.spellCheck === false) props.spellCheck = 'false'
}
