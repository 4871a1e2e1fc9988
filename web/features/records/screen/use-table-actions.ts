import { Columns3, Expand, Plus, Redo2, Search, Undo2 } from 'lucide-react'
import { useEffect, useMemo, useRef } from 'react'
import type { Action } from '../../../actions/action.ts'
import { type ShortcutSection, useScreenActions, useShortcutSection } from '../../../actions/index.ts'
import { m } from '../../../messages.gen.ts'
import { hasOpenLayer } from '../../../ui/layers.ts'
import { isShortcut, isTyping } from '../../../ui/shortcuts.ts'
import { shownFields } from '../../views/state/arrange-fields.ts'
import { can, type GetContext } from '../context/table-context.ts'
import { placeOf, redo, undo } from '../undo/undo-commands.tsx'
import { GRID_SHORTCUTS } from './grid-shortcuts.ts'

/** What the actions of a table's screen do in its kind of view. */
export interface ScreenActions {
  openSearch: () => void
  addField: () => void
  /** Absent: a grid, which offers a row to type into. */
  addRecord?: () => void
  /** The keys of a view that is no grid. */
  shortcuts?: ShortcutSection
}

/** What can be done on a table's screen from the palette and by key. */
export function useTableActions(get: GetContext, screen: ScreenActions): { addRecord: () => void } {
  const latest = useRef({ get, screen })
  latest.current = { get, screen }
  const { actions, addRecord } = useMemo(() => {
    const context = () => latest.current.get()
    const addRecord = () => {
      if (latest.current.screen.addRecord) return latest.current.screen.addRecord()
      const { store, grid, schema, state } = context()
      const row = store.addRow(null)
      if (row === null) return
      const [first] = shownFields(schema.fields, state.view)
      grid()?.select(row, first?.field.id)
      grid()?.focus()
    }
    const group = () => m.common_table()
    const actions: Action[] = [
      {
        id: 'record.create',
        label: () => m.common_new_record(),
        group,
        icon: Plus,
        shortcut: 'alt+r',
        run: addRecord,
        when: ({ can }) => can('record.create'),
      },
      {
        id: 'field.create',
        label: () => m.common_add_field(),
        group,
        icon: Columns3,
        shortcut: 'alt+c',
        when: ({ can }) => can('field.create'),
        run: () => latest.current.screen.addField(),
      },
      {
        id: 'view.search',
        label: () => m.records_search_this_view(),
        group,
        icon: Search,
        shortcut: 'mod+f',
        run: () => latest.current.screen.openSearch(),
      },
      {
        id: 'record.undo',
        label: () => m.common_undo(),
        group,
        icon: Undo2,
        when: ({ can }) => can('record.undo'),
        run: () => undo(placeOf(context())),
      },
      {
        id: 'record.redo',
        label: () => m.common_redo(),
        group,
        icon: Redo2,
        when: ({ can }) => can('record.undo'),
        run: () => redo(placeOf(context())),
      },
      {
        id: 'view.fullScreen',
        label: () => m.records_full_screen(),
        group,
        icon: Expand,
        shortcut: 'alt+f',
        async run() {
          if (document.fullscreenElement) await document.exitFullscreen()
          else await document.documentElement.requestFullscreen()
        },
      },
    ]
    return { actions, addRecord }
  }, [])
  useScreenActions(actions)
  useShortcutSection(screen.shortcuts ?? GRID_SHORTCUTS)

  // Not by the key map: in an input these keys belong to the text.
  useEffect(() => {
    function onKeyDown(event: KeyboardEvent) {
      if (event.defaultPrevented || isTyping(event.target) || hasOpenLayer()) return
      const isUndo = isShortcut(event, 'mod+z')
      if (!isUndo && !isShortcut(event, 'mod+shift+z') && !isShortcut(event, 'mod+y')) return
      const context = latest.current.get()
      if (!can(context, 'record.undo')) return
      event.preventDefault()
      void (isUndo ? undo : redo)(placeOf(context))
    }
    document.addEventListener('keydown', onKeyDown)
    return () => document.removeEventListener('keydown', onKeyDown)
  }, [])
  return { addRecord }
}
