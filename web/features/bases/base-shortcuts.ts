import type { ShortcutSection } from '../../actions/index.ts'
import { t } from '../../i18n.ts'
import { shortcutLabel } from '../../ui/shortcuts.ts'

/** The keys of a base's first page, for the shortcut sheet. They are read by `use-screen-undo.ts`. */
export const BASE_SHORTCUTS: ShortcutSection = {
  title: () => t('Base'),
  lines: [
    { keys: [shortcutLabel('mod+z')], label: () => t('Undo') },
    { keys: [shortcutLabel('mod+shift+z'), shortcutLabel('mod+y')], label: () => t('Redo') },
  ],
}
