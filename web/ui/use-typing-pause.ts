import { useEffect, useState } from 'react'
import { isTyping } from './shortcuts.ts'

/** Who has pressed no key for this long is not typing. */
const PAUSE_MS = 1_000

/**
 * True once nobody is typing, for a dialog that opens by itself: it would get the rest of the word, and what has the focus
 * would be stored without it.
 */
export function useTypingPause(): boolean {
  const [isPause, setPause] = useState(() => !takesText(document.activeElement))
  useEffect(() => {
    if (isPause) return
    let timer = setTimeout(setPause, PAUSE_MS, true)
    const wait = (event: Event) => {
      clearTimeout(timer)
      // An input method may be left open for longer.
      const isComposing = 'isComposing' in event && event.isComposing === true
      if (!isComposing) timer = setTimeout(setPause, PAUSE_MS, true)
    }
    for (const type of TYPING) document.addEventListener(type, wait, true)
    return () => {
      clearTimeout(timer)
      for (const type of TYPING) document.removeEventListener(type, wait, true)
    }
  }, [isPause])
  return isPause
}

const TYPING = ['keydown', 'input', 'compositionend']

/** True for text inputs and what forwards text, such as the grid's receiver. */
const takesText = (element: Element | null): boolean =>
  isTyping(element) || (element instanceof HTMLElement && element.dataset.shortcuts !== undefined)
