import { useEffect, useRef } from 'react'
import { messageOf } from '../../../errors.ts'
import { hasOpenLayer } from '../../../ui/layers.ts'
import { isTyping } from '../../../ui/shortcuts.ts'
import { toast } from '../../../ui/toast.ts'
import type { GetContext } from '../context/table-context.ts'
import { pasteSheet } from './paste-sheet.ts'

/** While a table is empty, a paste anywhere on its screen fills it, the first line naming the fields. */
export function useSheetPaste(get: GetContext, isEmpty: boolean): void {
  const latest = useRef(get)
  latest.current = get
  useEffect(() => {
    if (!isEmpty) return
    function onPaste(event: ClipboardEvent) {
      const { clipboardData } = event
      if (!clipboardData || hasOpenLayer() || isTyping(event.target)) return
      event.preventDefault()
      // Ahead of the grid, for which a paste without a cell to begin at is one of cells alone.
      event.stopImmediatePropagation()
      const forms = new Map([...clipboardData.types].map((type) => [type, clipboardData.getData(type)]))
      pasteSheet(latest.current, (type) => forms.get(type) ?? '').catch((error) =>
        toast.error({ text: messageOf(error) }),
      )
    }
    window.addEventListener('paste', onPaste, true)
    return () => window.removeEventListener('paste', onPaste, true)
  }, [isEmpty])
}
