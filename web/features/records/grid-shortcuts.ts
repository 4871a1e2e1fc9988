import type { ShortcutSection } from '../../actions/index.ts'
import { t } from '../../i18n.ts'
import { shortcutLabel } from '../../ui/shortcuts.ts'

/** The grid's own keys, for the shortcut sheet. They are read by `web/grid/keys.ts`. */
export const GRID_SHORTCUTS: ShortcutSection = {
  title: () => t('Grid'),
  lines: [
    { keys: ['↑', '↓', '←', '→'], label: () => t('Move; with Shift extend the selection') },
    { keys: [`${shortcutLabel('mod')} + ↑ ↓ ← →`], label: () => t('Go to the edge of what is filled') },
    { keys: ['Home', 'End'], label: () => t('Start and end of the row') },
    { keys: [shortcutLabel('mod+Home'), shortcutLabel('mod+End')], label: () => t('First and last cell') },
    { keys: ['PageUp', 'PageDown'], label: () => t('One page up or down') },
    { keys: ['Tab', 'Shift+Tab'], label: () => t('Next and previous cell') },
    { keys: ['Enter', 'F2'], label: () => t('Edit; Enter again goes down') },
    { keys: ['Esc'], label: () => t('Leave without change') },
    { keys: ['Alt+Enter'], label: () => t('Line break in long text') },
    { keys: [shortcutLabel('mod+enter')], label: () => t('Save and add a record') },
    { keys: [t('Space')], label: () => t('Open the record') },
    {
      keys: [shortcutLabel('shift+Space'), shortcutLabel('mod+Space')],
      label: () => t('Select the row, the column'),
    },
    { keys: [shortcutLabel('mod+a')], label: () => t('Select all') },
    {
      keys: [shortcutLabel('mod+c'), shortcutLabel('mod+x'), shortcutLabel('mod+v')],
      label: () => t('Copy, cut, paste'),
    },
    { keys: [shortcutLabel('mod+shift+v')], label: () => t('Paste as text') },
    { keys: [shortcutLabel('mod+d'), shortcutLabel('mod+r')], label: () => t('Fill down, fill across') },
    { keys: [shortcutLabel('mod+;')], label: () => t('Today in a date, now with Shift') },
    { keys: ['Del', 'Backspace'], label: () => t('Clear') },
    { keys: [shortcutLabel('mod+z')], label: () => t('Undo') },
    { keys: [shortcutLabel('mod+shift+z'), shortcutLabel('mod+y')], label: () => t('Redo') },
    { keys: ['Shift+F10'], label: () => t('Menu of the cell') },
    { keys: ['Alt+↑', 'Alt+↓'], label: () => t('Previous and next in an open record') },
  ],
}
