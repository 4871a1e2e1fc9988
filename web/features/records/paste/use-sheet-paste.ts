import { useEffect, useRef } from 'react'
import { messageOf } from '../../../errors.ts'
import { loadPart } from '../../../navigation/lazy-screen.ts'
import { hasOpenLayer } from '../../../ui/layers.ts'
import { isTyping } from '../../../ui/shortcuts.ts'
import { toast } from '../../../ui/toast.ts'
import type { GetContext } from '../context/table-context.ts'

const sheetPaste = () => loadPart(() => import('./paste-sheet.ts'))

/** While a table is empty, pasting anywhere on its screen fills it; the first line contains the field titles. */
export function useSheetPaste(get: GetContext, isEmpty: boolean): void {
  const latest = useRef(get)
  latest.current = get
  useEffect(() => {
    if (!isEmpty) return
    function onPaste(event: ClipboardEvent) {
      const { clipboardData } = event
      if (!clipboardData || hasOpenLayer() || isTyping(event.target)) return
      event.preventDefault()
      // Runs before the grid’s own handler, which would paste cells without a header.
      event.stopImmediatePropagation()
      const forms = new Map([...clipboardData.types].map((type) => [type, clipboardData.getData(type)]))
      sheetPaste()
        .then(({ pasteSheet }) => pasteSheet(latest.current, (type) => forms.get(type) ?? ''))
        .catch((error) => toast.error({ text: messageOf(error) }))
    }
    window.addEventListener('paste', onPaste, true)
    return () => window.removeEventListener('paste', onPaste, true)
  }, [isEmpty])
}
