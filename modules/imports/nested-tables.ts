import type { Actor } from '../../src/core/actor.ts'
import { badRequest } from '../../src/core/errors.ts'
import { linkOf } from '../../src/core/fields/link-options.ts'
import { freeTitle } from '../../src/core/free-title.ts'
import type { Analysis, TableAnalysis } from '../../src/core/imports/analysis.ts'
import {
  type DraftColumn,
  type DraftTarget,
  draftColumns,
  toStartInput,
} from '../../src/core/imports/draft.ts'
import { fieldForList, previewable } from '../../src/core/imports/nested-lists.ts'
import { type LinkableDraft, proposeLinks } from '../../src/core/imports/propose-links.ts'
import { titleOfImport } from '../../src/core/imports/title-of-import.ts'
import { m } from '../../src/messages.gen.ts'
import { isForeign } from '../records/index.ts'
import type { SchemaReader, TableModel } from '../schema/index.ts'
import { type StartInput, startAllInput } from './input.ts'

interface Deps {
  schema: Pick<SchemaReader, 'load' | 'tables'>
}

/** A table of a file that goes into an existing table, and the other tables of the file. */
interface FileTable {
  analysis: Analysis
  position: number
  tables: readonly TableAnalysis[]
  fileName: string
}

/** Imports of the lists in the records of a file, which a program imports into an existing table. */
export interface NestedTables {
  /** Columns whose lists go into the tables of link fields, by their position in the file. */
  linkedColumns: ReadonlySet<number>
  /** The imports, to be started after that of the records, which is the first. New tables have no preview. */
  inputs(common: {
    baseId: string
    uploadId: string
    timeZone: string | undefined
    preview: boolean
  }): StartInput[]
}

/**
 * Proposes what becomes of lists of objects in records that are imported into an existing table, as the dialog of the web app does:
 * a list goes into the table of the link field that is called like its column, or into a new table.
 */
export function createNestedTables({ schema }: Deps) {
  /** @throws BAD_REQUEST for lists that cannot be read or linked */
  async function propose(actor: Actor, model: TableModel, file: FileTable): Promise<NestedTables> {
    const { analysis, position, tables, fileName } = file
    const taken = (await schema.tables(actor, model.table.baseId)).map(({ title }) => title)
    const drafts: LinkableDraft[] = [draftOf(position, { analysis, parent: null, target: existing(model) })]
    for (const [key, table] of tables.entries()) {
      const parent = table.parent && drafts.find((draft) => draft.key === table.parent?.table)
      if (!parent || !table.parent) continue
      if (isForeign(model)) throw badRequest(m.imports_error_list_connected())
      if (!table.analysis) throw badRequest(table.problem ?? m.imports_error_empty_file())
      const { column } = table.parent
      const list = parent.columns.find(({ index }) => index === column)
      const link = linkOf(fieldForList(parent.target, list) ?? NO_FIELD)
      const title = freeTitle(titleOfImport(fileName, table.name, false) || m.imports_untitled(), taken)
      if (!link) taken.push(title)
      if (list && parent.target.kind === 'new') list.isOn = false
      const target = link ? existing(await schema.load(link.relatedTableId)) : newTable(title)
      drafts.push(draftOf(key, { analysis: table.analysis, parent: { key: parent.key, column }, target }))
    }
    const linked = proposeLinks(drafts, () => []).map(withoutBackReferences)
    const [own, ...lists] = linked
    const unlinked = lists.find(({ columns: [rows] }) => !rows?.link)
    if (unlinked) {
      const list = tables[unlinked.key]?.name ?? ''
      throw badRequest(m.imports_error_list_unlinked({ list, table: titleOfParent(unlinked, linked) }))
    }
    const before = new Set(drafts[0]?.columns.flatMap(({ isOn, index }) => (isOn ? index : [])))
    return {
      linkedColumns: new Set(
        own?.columns.flatMap(({ isOn, index }) => (!isOn && before.has(index) ? index : [])),
      ),
      inputs({ baseId, uploadId, timeZone, preview }) {
        const imported = preview ? previewable(linked) : linked
        const positionOf = (key: number) => imported.findIndex((draft) => draft.key === key)
        const started = imported.slice(1).flatMap(({ analysis: found, columns, target }) =>
          found
            ? {
                ...toStartInput({ baseId, uploadId, analysis: found }, columns, target, positionOf),
                timeZone,
                preview,
              }
            : [],
        )
        if (started.length === 0) return []
        const parsed = startAllInput.safeParse(started)
        if (!parsed.success) throw badRequest(parsed.error.issues[0]?.message ?? '')
        return parsed.data
      },
    }
  }

  return { propose }
}

const NO_FIELD = { type: '', options: {} }

const existing = ({ table: { id, title }, fields }: TableModel): DraftTarget => ({
  kind: 'append',
  tableId: id,
  title,
  fields,
})

const newTable = (title: string): DraftTarget => ({ kind: 'new', title })

function draftOf(
  key: number,
  { analysis, parent, target }: Pick<LinkableDraft, 'parent' | 'target'> & { analysis: Analysis },
): LinkableDraft {
  // Links by names are chosen by people.
  const columns = draftColumns(analysis, target).map((column) =>
    parent && column.index === 0 ? column : { ...column, link: null },
  )
  return { key, isOn: true, parent, target, analysis, columns }
}

/** Turns off columns that name the records which a list belongs to: the rows tell them. */
function withoutBackReferences(draft: LinkableDraft): LinkableDraft {
  const rows = draft.columns.find(({ link }) => link?.by === 'row')
  const isBack = (column: DraftColumn) =>
    rows !== undefined && column !== rows && column.fieldId !== null && column.fieldId === rows.fieldId
  const columns = draft.columns.map((column) => (isBack(column) ? { ...column, isOn: false } : column))
  return { ...draft, columns }
}

const titleOfParent = ({ parent }: LinkableDraft, drafts: readonly LinkableDraft[]): string =>
  drafts.find(({ key }) => key === parent?.key)?.target.title ?? ''
