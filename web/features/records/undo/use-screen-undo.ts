import { Redo2, Undo2 } from 'lucide-react'
import { useEffect, useMemo } from 'react'
import { type ShortcutSection, useScreenActions, useShortcutSection } from '../../../actions/index.ts'
import { m } from '../../../messages.gen.ts'
import { hasOpenLayer } from '../../../ui/layers.ts'
import { stepOfKey } from '../../../ui/shortcuts.ts'
import { redo, type UndoPlace, undo } from './undo-commands.tsx'

/**
 * Undo and redo by keyboard and palette on screens without a grid. Without a table in `place`, every action is
 * confirmed first. `section` lists the screen's shortcuts.
 */
export function useScreenUndo(
  { baseId, tableId, viewId }: UndoPlace,
  mayUndo: boolean,
  section: ShortcutSection,
): void {
  const actions = useMemo(() => {
    const place = { baseId, tableId, viewId }
    const group = section.title
    return [
      {
        id: 'screen.undo',
        label: () => m.common_undo(),
        group,
        icon: Undo2,
        when: () => mayUndo,
        run: () => undo(place),
      },
      {
        id: 'screen.redo',
        label: () => m.common_redo(),
        group,
        icon: Redo2,
        when: () => mayUndo,
        run: () => redo(place),
      },
    ]
  }, [baseId, tableId, viewId, mayUndo, section])
  useScreenActions(actions)
  useShortcutSection(section)

  // Not in the key map, because inputs handle these keys themselves.
  useEffect(() => {
    function onKeyDown(event: KeyboardEvent) {
      if (event.defaultPrevented || isTyping(event.target) || hasOpenLayer() || !mayUndo) return
      const step = stepOfKey(event)
      if (step === null) return
      event.preventDefault()
      void actions[step === 'undo' ? 0 : 1]?.run()
    }
    document.addEventListener('keydown', onKeyDown)
    return () => document.removeEventListener('keydown', onKeyDown)
  }, [actions, mayUndo])
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable ||
    target.matches('textarea, select, input:not([type="checkbox"], [type="radio"])'))
