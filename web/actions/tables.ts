import { FileUp, Network, Table2, Trash2 } from 'lucide-react'
import { pickImport } from '../features/shell/pick-import.ts'
import { createTable, openTableTrash } from '../features/shell/table-commands.tsx'
import { t } from '../i18n.ts'
import { goTo, paths } from '../routes/paths.ts'
import type { Action } from './action.ts'

const group = () => t('This base')

/** Makes a table in the base on the screen. */
export const createTableAction: Action = {
  id: 'table.create',
  label: () => t('New table'),
  group,
  icon: Table2,
  shortcut: 'alt+t',
  when: ({ can }) => can('table.create'),
  run({ base }) {
    if (base) createTable(base.id)
  },
}

/** Imports a file as a new table. */
export const importAction: Action = {
  id: 'base.import',
  label: () => t('Import data'),
  group,
  icon: FileUp,
  when: ({ can }) => can('import.create'),
  run({ base }) {
    if (base) pickImport({ baseId: base.id })
  },
}

/** The diagram of the base on the screen. */
export const relationsAction: Action = {
  id: 'base.relations',
  label: () => t('Relations between tables'),
  group,
  icon: Network,
  when: ({ base }) => base !== undefined && base !== null,
  run({ base }) {
    if (base) goTo(paths.relations(base.id))
  },
}

/** The deleted tables of the base on the screen. */
export const tableTrashAction: Action = {
  id: 'tables.trash',
  label: () => t('Deleted tables'),
  group,
  icon: Trash2,
  when: ({ can }) => can('table.restore'),
  run({ base }) {
    if (base) openTableTrash(base)
  },
}
