import { type ReactNode, useState } from 'react'
import { linkOf } from '../../../src/core/fields/link-options.ts'
import { freeTitle } from '../../../src/core/free-title.ts'
import type { Base, Field, Table } from '../../../src/core/model.ts'
import type { CopiedBase, CopiedTable, NotCopiedPart } from '../../../src/core/table-copies.ts'
import { m } from '../../messages.gen.ts'
import { goTo, paths } from '../../navigation/paths.ts'
import { runOnceInQueue } from '../../records/base-queue.ts'
import { api, cache, trpc } from '../../trpc.ts'
import { Checkbox } from '../../ui/checkbox.tsx'
import { TextField } from '../../ui/field.tsx'
import styles from './copies.module.css'
import { CopyDialog, type StartedCopy } from './copy-dialog.tsx'

/** Options of a copied base or table. */
interface CopyChoices {
  title: string
  withData: boolean
  withViews: boolean
}

interface DuplicateDialogProps {
  /** Title of the original. */
  title: string
  /** Initial title of the copy. */
  newTitle: string
  labels: { views: string; waiting: string }
  /** @returns the problem of a title, or null */
  problemOf: (title: string) => string | null
  start: (choices: CopyChoices) => Promise<StartedCopy>
  onClose: () => void
  /** Hint below the options. */
  note?: ReactNode
}

/** Suggested title of a copy, truncated so that it stays below 255 characters in every language. */
const copyTitle = (title: string): string => m.copies_title_copy({ title: [...title].slice(0, 220).join('') })

/** Dialog for duplicating a base or a table: title, records, views. */
function DuplicateDialog({ title, newTitle, labels, problemOf, start, onClose, note }: DuplicateDialogProps) {
  const [choices, setChoices] = useState<CopyChoices>({ title: newTitle, withData: true, withViews: true })
  const change = (part: Partial<CopyChoices>) => setChoices((current) => ({ ...current, ...part }))
  const problem = problemOf(choices.title.trim())
  return (
    <CopyDialog
      title={title}
      waiting={labels.waiting}
      isReady={problem === null}
      start={() => start({ ...choices, title: choices.title.trim() })}
      onClose={onClose}
    >
      <TextField
        label={m.common_name()}
        data-autofocus
        data-select-all
        maxLength={255}
        value={choices.title}
        onChange={(event) => change({ title: event.target.value })}
        error={problem}
      />
      <Checkbox
        label={m.common_records()}
        checked={choices.withData}
        onChange={(withData) => change({ withData })}
      />
      <Checkbox
        label={labels.views}
        checked={choices.withViews}
        onChange={(withViews) => change({ withViews })}
      />
      {note}
    </CopyDialog>
  )
}

interface DuplicateBaseDialogProps {
  base: Base
  onClose: () => void
}

/** Duplicates a base and opens the copy. */
export function DuplicateBaseDialog({ base, onClose }: DuplicateBaseDialogProps) {
  return (
    <DuplicateDialog
      title={base.title}
      newTitle={copyTitle(base.title)}
      labels={{
        views: m.copies_include_all_views(),
        waiting: m.copies_duplicating_base(),
      }}
      problemOf={(name) => (name === '' ? m.common_enter_a_name() : null)}
      start={async (options) => {
        const { jobId, baseId } = await api.copies.base.mutate({ baseId: base.id, options })
        return {
          jobId,
          async finish(result) {
            await cache.bases.list.invalidate()
            return readyText(options.title, (result as CopiedBase).notCopied)
          },
          open: () => goTo(paths.base(baseId)),
        }
      }}
      onClose={onClose}
    />
  )
}

interface DuplicateTableDialogProps {
  table: Table
  onClose: () => void
}

/** Duplicates a table in its base and opens the copy. */
export function DuplicateTableDialog({ table, onClose }: DuplicateTableDialogProps) {
  const { id: tableId, baseId, title } = table
  const schema = trpc.schema.table.useQuery({ tableId }, { staleTime: 60_000 })
  const isLinked = schema.data?.fields.some((field) => leadsElsewhere(field, tableId)) ?? false
  const taken = cache.schema.tables.getData({ baseId })?.map((other) => other.title) ?? []
  const problemOf = (name: string) => {
    if (name === '') return m.common_enter_a_name()
    return freeTitle(name, taken) === name ? null : m.copies_table_name_already_exists()
  }
  return (
    <DuplicateDialog
      title={title}
      newTitle={freeTitle(copyTitle(title), taken)}
      labels={{
        views: m.copies_include_all_views(),
        waiting: m.copies_duplicating_table(),
      }}
      problemOf={problemOf}
      start={async (options) => {
        const copy = await runOnceInQueue(baseId, () => api.copies.table.mutate({ tableId, options }))
        return {
          jobId: copy.jobId,
          async finish(result) {
            await cache.schema.invalidate()
            return readyText(options.title, (result as CopiedTable).notCopied)
          },
          open: () => goTo(paths.table(baseId, copy.tableId)),
        }
      }}
      onClose={onClose}
      note={isLinked && <p className={styles.text}>{m.copies_copy_links_of_table_hint()}</p>}
    />
  )
}

/** That a copy is ready, and what it does not have. */
const readyText = (title: string, parts: NotCopiedPart[] = []): string =>
  parts.length === 0
    ? m.copies_title_is_ready({ title })
    : m.copies_title_is_ready_except({ title, parts: parts.map(partName).join(', ') })

/** The name of a part that the copy does not have. */
const partName = ({ kind, name, table }: NotCopiedPart): string =>
  table === undefined
    ? m.copies_part_of_table({ kind, name })
    : m.copies_part_of_other_table({ part: m.copies_part_of_table({ kind, name }), table })

/** True for a link to another table. */
function leadsElsewhere(field: Field, tableId: string): boolean {
  const link = linkOf(field)
  return link !== null && !field.isSystem && link.relatedTableId !== tableId
}
