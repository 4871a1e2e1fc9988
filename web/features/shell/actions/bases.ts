import { BookOpen, LayoutGrid, Pencil, Plus, Trash2 } from 'lucide-react'
import type { Action } from '../../../actions/action.ts'
import { t } from '../../../i18n.ts'
import { goTo, paths } from '../../../navigation/paths.ts'
import { createBase, editBase, openApiDocs, openBaseTrash } from '../../bases/base-commands.tsx'

const group = () => t('Bases')

/** Leads to the list of bases. */
export const goToBases: Action = {
  id: 'bases.open',
  label: () => t('Go to bases'),
  group,
  icon: LayoutGrid,
  shortcut: 'alt+b',
  run: () => goTo(paths.bases()),
}

/** Asks for a name and makes a base. */
export const createBaseAction: Action = {
  id: 'base.create',
  label: () => t('New base'),
  group,
  icon: Plus,
  shortcut: 'alt+d',
  when: ({ holds }) => holds('org-level-creator'),
  run: createBase,
}

/** Name and colour of the base on the screen. */
export const editBaseAction: Action = {
  id: 'base.edit',
  label: () => t('Rename this base'),
  group,
  icon: Pencil,
  shortcut: 'alt+,',
  when: ({ can }) => can('base.update'),
  run({ base }) {
    if (base) editBase(base)
  },
}

/** The deleted bases. */
export const openTrashAction: Action = {
  id: 'bases.trash',
  label: () => t('Deleted bases'),
  group,
  icon: Trash2,
  run: openBaseTrash,
}

/** The API's own page: of the base on the screen, elsewhere of this server. */
export const apiDocsAction: Action = {
  id: 'api.docs',
  label: () => t('API documentation'),
  group,
  icon: BookOpen,
  shortcut: 'mod+j',
  run: ({ base }) => openApiDocs(base),
}
