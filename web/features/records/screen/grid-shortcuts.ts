import type { ShortcutSection } from '../../../actions/index.ts'
import { t } from '../../../i18n.ts'
import { shortcutLabel } from '../../../ui/shortcuts.ts'

/** The grid's own keys, for the shortcut sheet. They are read by `web/grid/keys.ts`. */
export const GRID_SHORTCUTS: ShortcutSection = {
  title: () => t('Grid'),
  lines: [
    { keys: ['↑', '↓', '←', '→'], label: () => t('Move; hold Shift to extend the selection') },
    { keys: [`${shortcutLabel('mod')} + ↑ ↓ ← →`], label: () => t('Jump to the edge of the data') },
    { keys: ['Home', 'End'], label: () => t('Start and end of the row') },
    { keys: [shortcutLabel('mod+Home'), shortcutLabel('mod+End')], label: () => t('First and last cell') },
    { keys: ['PageUp', 'PageDown'], label: () => t('Page up or down') },
    { keys: ['Tab', 'Shift+Tab'], label: () => t('Next and previous cell') },
    { keys: ['Enter', 'F2'], label: () => t('Edit; Enter again moves down') },
    { keys: ['Esc'], label: () => t('Cancel') },
    { keys: ['Alt+Enter'], label: () => t('Line break in long text') },
    { keys: [shortcutLabel('mod+enter')], label: () => t('Save and add a record') },
    { keys: [t('Space')], label: () => t('Open record') },
    {
      keys: [shortcutLabel('shift+Space'), shortcutLabel('mod+Space')],
      label: () => t('Select row, column'),
    },
    { keys: [shortcutLabel('mod+a')], label: () => t('Select all') },
    {
      keys: [shortcutLabel('mod+c'), shortcutLabel('mod+x'), shortcutLabel('mod+v')],
      label: () => t('Copy, cut, paste'),
    },
    { keys: [shortcutLabel('mod+shift+v')], label: () => t('Paste as text') },
    { keys: [shortcutLabel('mod+d'), shortcutLabel('mod+r')], label: () => t('Fill down, fill right') },
    { keys: [shortcutLabel('mod+;')], label: () => t('Insert today’s date; with Shift, current time') },
    { keys: ['Del', 'Backspace'], label: () => t('Clear') },
    { keys: [shortcutLabel('mod+z')], label: () => t('Undo') },
    { keys: [shortcutLabel('mod+shift+z'), shortcutLabel('mod+y')], label: () => t('Redo') },
    { keys: ['Shift+F10'], label: () => t('Cell menu') },
    { keys: ['Alt+↑', 'Alt+↓'], label: () => t('Previous and next record') },
  ],
}
