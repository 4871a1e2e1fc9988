import { Redo2, Undo2 } from 'lucide-react'
import { useEffect, useMemo } from 'react'
import { type ShortcutSection, useScreenActions, useShortcutSection } from '../../actions/index.ts'
import { messageOf } from '../../errors.ts'
import { t } from '../../i18n.ts'
import { api } from '../../trpc.ts'
import { hasOpenLayer } from '../../ui/layers.ts'
import { isShortcut } from '../../ui/shortcuts.ts'
import { toast } from '../../ui/toast.ts'
import { inLine } from './base-queue.ts'
import { redo, undo } from './undo-commands.ts'

/** Undo and redo by key and by the palette, on a screen of a base without records. `section` lists its keys. */
export function useScreenUndo(baseId: string, mayUndo: boolean, section: ShortcutSection): void {
  const actions = useMemo(() => {
    const calls = {
      undo: () => told(inLine(baseId, () => api.records.undo.mutate({ baseId }))),
      redo: () => told(inLine(baseId, () => api.records.redo.mutate({ baseId }))),
    }
    const group = section.title
    return [
      {
        ...{ id: 'screen.undo', label: () => t('Undo'), group, icon: Undo2, when: () => mayUndo },
        run: () => undo(calls),
      },
      {
        ...{ id: 'screen.redo', label: () => t('Redo'), group, icon: Redo2, when: () => mayUndo },
        run: () => redo(calls),
      },
    ]
  }, [baseId, mayUndo, section])
  useScreenActions(actions)
  useShortcutSection(section)

  // Not by the key map: in an input these keys belong to the text.
  useEffect(() => {
    function onKeyDown(event: KeyboardEvent) {
      if (event.defaultPrevented || isTyping(event.target) || hasOpenLayer() || !mayUndo) return
      const isUndo = isShortcut(event, 'mod+z')
      if (!isUndo && !isShortcut(event, 'mod+shift+z') && !isShortcut(event, 'mod+y')) return
      event.preventDefault()
      void actions[isUndo ? 0 : 1]?.run()
    }
    document.addEventListener('keydown', onKeyDown)
    return () => document.removeEventListener('keydown', onKeyDown)
  }, [actions, mayUndo])
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable ||
    target.matches('textarea, select, input:not([type="checkbox"], [type="radio"])'))

/** What the server answers; null where it refused, which was told. */
async function told<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work
  } catch (error) {
    toast.error({ text: messageOf(error) })
    return null
  }
}
