import { Columns3, Expand, Plus, Redo2, Search, Undo2 } from 'lucide-react'
import { useEffect, useMemo, useRef } from 'react'
import type { Action } from '../../../actions/action.ts'
import { type ShortcutSection, useScreenActions, useShortcutSection } from '../../../actions/index.ts'
import { m } from '../../../messages.gen.ts'
import { loadPart } from '../../../navigation/lazy-screen.ts'
import { showError } from '../../../ui/attempt.ts'
import { hasOpenLayer } from '../../../ui/layers.ts'
import { isTyping, shortcutLabel, stepOfKey } from '../../../ui/shortcuts.ts'
import { shownFields } from '../../views/state/arrange-fields.ts'
import { addOnceCounted } from '../commands/add-once-counted.ts'
import { can, type GetContext, type TableContext } from '../context/table-context.ts'

/** Actions that depend on the kind of view. */
export interface ScreenActions {
  openSearch: () => void
  addField: () => void
  /** Absent in a grid, which adds a row. */
  addRecord?: () => void
  /** Shortcuts of a view other than a grid. */
  shortcuts?: ShortcutSection
}

/** Registers a table's command palette actions and shortcuts. */
export function useTableActions(get: GetContext, screen: ScreenActions): { addRecord: () => void } {
  const latest = useRef({ get, screen })
  latest.current = { get, screen }
  const { actions, addRecord } = useMemo(() => {
    const context = () => latest.current.get()
    const addRecord = () => {
      if (latest.current.screen.addRecord) return latest.current.screen.addRecord()
      const { store, grid, schema, state } = context()
      const [first] = shownFields(schema.fields, state.view)
      const row = store.addRow(null)
      if (row === null) return addOnceCounted(context, first?.field.id)
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
        run: () => stepBack('undo', context()),
      },
      {
        id: 'record.redo',
        label: () => m.common_redo(),
        group,
        icon: Redo2,
        when: ({ can }) => can('record.undo'),
        run: () => stepBack('redo', context()),
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

  // Not in the key map, because inputs handle these keys themselves.
  useEffect(() => {
    function onKeyDown(event: KeyboardEvent) {
      if (event.defaultPrevented || isTyping(event.target) || hasOpenLayer()) return
      const step = stepOfKey(event)
      if (step === null) return
      const context = latest.current.get()
      if (!can(context, 'record.undo')) return
      event.preventDefault()
      stepBack(step, context).catch(showError)
    }
    document.addEventListener('keydown', onKeyDown)
    return () => document.removeEventListener('keydown', onKeyDown)
  }, [])
  return { addRecord }
}

async function stepBack(direction: 'undo' | 'redo', context: TableContext): Promise<void> {
  const commands = await loadPart(() => import('../undo/undo-commands.tsx'))
  await commands[direction](commands.placeOf(context))
}

/** Keys of the grid for the shortcut sheet; `web/grid/keys.ts` handles them. */
const GRID_SHORTCUTS: ShortcutSection = {
  title: () => m.records_grid(),
  lines: [
    { keys: ['↑', '↓', '←', '→'], label: () => m.records_move_hold_shift_extend_selection() },
    { keys: [`${shortcutLabel('mod')} + ↑ ↓ ← →`], label: () => m.records_jump_edge_data() },
    { keys: ['Home', 'End'], label: () => m.records_start_end_row() },
    {
      keys: [shortcutLabel('mod+Home'), shortcutLabel('mod+End')],
      label: () => m.records_first_and_last_cell(),
    },
    { keys: ['PageUp', 'PageDown'], label: () => m.records_page_up_or_down() },
    { keys: ['Tab', 'Shift+Tab'], label: () => m.records_next_and_previous_cell() },
    { keys: ['Enter', 'F2'], label: () => m.records_edit_enter_again_moves_down() },
    { keys: ['Esc'], label: () => m.common_cancel() },
    { keys: ['Alt+Enter'], label: () => m.records_line_break_in_long_text() },
    { keys: [shortcutLabel('mod+enter')], label: () => m.records_save_and_add_a_record() },
    { keys: ['Space'], label: () => m.common_open_record() },
    {
      keys: [shortcutLabel('shift+Space'), shortcutLabel('mod+Space')],
      label: () => m.records_select_row_column(),
    },
    { keys: [shortcutLabel('mod+a')], label: () => m.common_select_all() },
    {
      keys: [shortcutLabel('mod+c'), shortcutLabel('mod+x'), shortcutLabel('mod+v')],
      label: () => m.records_copy_cut_paste(),
    },
    { keys: [shortcutLabel('mod+shift+v')], label: () => m.records_paste_as_text() },
    { keys: [shortcutLabel('mod+d'), shortcutLabel('mod+r')], label: () => m.records_fill_down_fill_right() },
    { keys: [shortcutLabel('mod+;')], label: () => m.records_insert_todays_date_shift_current() },
    { keys: ['Del', 'Backspace'], label: () => m.common_clear() },
    { keys: [shortcutLabel('mod+z')], label: () => m.common_undo() },
    { keys: [shortcutLabel('mod+shift+z'), shortcutLabel('mod+y')], label: () => m.common_redo() },
    { keys: ['Shift+F10'], label: () => m.records_cell_menu() },
    { keys: ['Alt+↑', 'Alt+↓'], label: () => m.records_previous_and_next_record() },
  ],
}
