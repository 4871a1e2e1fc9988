import { BookOpen, LayoutGrid, Pencil, Plus, Trash2 } from 'lucide-react'
import type { Action } from '../../../actions/action.ts'
import { m } from '../../../messages.gen.ts'
import { goTo, paths } from '../../../navigation/paths.ts'
import { createBase, editBase, openApiDocs, openBaseTrash } from '../../bases/base-commands.tsx'

const group = () => m.shell_bases()

/** Leads to the list of bases. */
export const goToBases: Action = {
  id: 'bases.open',
  label: () => m.shell_go_to_bases(),
  group,
  icon: LayoutGrid,
  shortcut: 'alt+b',
  run: () => goTo(paths.bases()),
}

/** Asks for a name and makes a base. */
export const createBaseAction: Action = {
  id: 'base.create',
  label: () => m.shell_new_base(),
  group,
  icon: Plus,
  shortcut: 'alt+d',
  when: ({ holds }) => holds('org-level-creator'),
  run: createBase,
}

/** Name and colour of the base on the screen. */
export const editBaseAction: Action = {
  id: 'base.edit',
  label: () => m.shell_rename_this_base(),
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
  label: () => m.shell_deleted_bases(),
  group,
  icon: Trash2,
  run: openBaseTrash,
}

/** The API's own page: of the base on the screen, elsewhere of this server. */
export const apiDocsAction: Action = {
  id: 'api.docs',
  label: () => m.shell_api_documentation(),
  group,
  icon: BookOpen,
  shortcut: 'mod+j',
  run: ({ base }) => openApiDocs(base),
}
