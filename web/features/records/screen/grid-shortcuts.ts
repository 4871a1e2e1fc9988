import type { ShortcutSection } from '../../../actions/index.ts'
import { m } from '../../../messages.gen.ts'
import { shortcutLabel } from '../../../ui/shortcuts.ts'

/** The grid's own keys, for the shortcut sheet. They are read by `web/grid/keys.ts`. */
export const GRID_SHORTCUTS: ShortcutSection = {
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
