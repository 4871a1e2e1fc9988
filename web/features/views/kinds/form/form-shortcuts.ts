import type { ShortcutSection } from '../../../../actions/index.ts'
import { t } from '../../../../i18n.ts'
import { shortcutLabel } from '../../../../ui/shortcuts.ts'

/** The keys of a form's builder, for the shortcut sheet. They are read by `question-card.tsx` and `use-screen-undo.ts`. */
export const FORM_SHORTCUTS: ShortcutSection = {
  title: () => t('Form'),
  lines: [
    { keys: ['Tab', 'Shift+Tab'], label: () => t('Next and previous question') },
    { keys: ['↑', '↓'], label: () => t('Move question (on its handle)') },
    { keys: ['Enter'], label: () => t('Save title or text') },
    { keys: ['Esc'], label: () => t('Cancel') },
    { keys: [shortcutLabel('mod+z')], label: () => t('Undo') },
    { keys: [shortcutLabel('mod+shift+z'), shortcutLabel('mod+y')], label: () => t('Redo') },
  ],
}
