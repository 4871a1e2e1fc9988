import { FileUp } from 'lucide-react'
import { useId, useState } from 'react'
import { CSV_ENCODINGS, type CsvEncoding } from '../../../src/core/csv/format.ts'
import type { EncodingReading } from '../../../src/core/csv/guess-encoding.ts'
import { linkOf } from '../../../src/core/fields/link-options.ts'
import type { Analysis } from '../../../src/core/imports/analysis.ts'
import {
  countMisfits,
  type DraftColumn,
  type DraftTarget,
  missingFields,
  problemOf,
  unfilledColumns,
} from '../../../src/core/imports/draft.ts'
import type { Table } from '../../../src/core/model.ts'
import { formatBytes } from '../../attachments/format-bytes.ts'
import { messageOf } from '../../errors.ts'
import { m } from '../../messages.gen.ts'
import { timeZone } from '../../time-zone.ts'
import { trpc } from '../../trpc.ts'
import { Alert } from '../../ui/alert.tsx'
import { showError } from '../../ui/attempt.ts'
import { Button } from '../../ui/button.tsx'
import { ErrorState, Skeleton } from '../../ui/states.tsx'
import { nameOf } from '../sources/source-commands.tsx'
import { AnalyseError } from './analysis.ts'
import { ColumnCards } from './column-cards.tsx'
import styles from './draft-view.module.css'
import { FormatOptions } from './format-options.tsx'
import { loadTarget } from './load-target.ts'
import { type ImportSource, memoryForWhole } from './source.ts'
import { UpdateOptions } from './update-options.tsx'
import { type Draft, type Drafts, isEncodingOpen } from './use-drafts.ts'
import type { LinkTarget } from './use-links.ts'

interface DraftViewProps {
  baseId: string
  /** Undefined until the first file has been read. */
  draft: Draft | undefined
  all: Drafts
  /** Tables that columns can link to. */
  targets: LinkTarget[]
  /** Undefined until they are loaded. */
  tables: readonly Table[] | undefined
  /** False for editors, who may only append to tables. */
  mayCreate: boolean
  /** Replaces a file that cannot be read. */
  onChooseAnother: () => void
}

/** Second step of an import: format, target table and columns of a file. */
export function DraftView({
  baseId,
  draft: given,
  all,
  targets,
  tables,
  mayCreate,
  onChooseAnother,
}: DraftViewProps) {
  const looked = useMissingNames(baseId, given)
  const draft = given && { ...given, columns: looked.columns }
  if (!draft || (!draft.analysis && !draft.error)) return <Reading draft={draft} />
  const { analysis, error, columns, target, source } = draft
  const refusal = target.kind === 'append' ? target.refusal : null
  const fault = error === null ? null : error instanceof AnalyseError ? error.fault : 'other'
  return (
    <div className={styles.view} aria-busy={draft.isReading} data-off={!draft.isOn || undefined}>
      <p className={styles.file}>
        <strong dir="auto">{draft.table || source.name}</strong>
        {draft.table !== '' && <span dir="auto">{source.name}</span>}
        <span>{formatBytes(source.size)}</span>
        {analysis && (
          <>
            <span>{rowsText(analysis.rowCount, analysis.isExact)}</span>
            <span>{m.imports_columns_count({ count: columns.length })}</span>
          </>
        )}
      </p>
      <MemoryWarning source={source} />
      {error && (
        <ErrorState
          title={m.imports_this_file_cant_be_read()}
          error={error}
          onRetry={fault === 'other' ? () => all.tryAgain(draft) : undefined}
        >
          <Button variant="primary" icon={FileUp} onClick={onChooseAnother}>
            {m.imports_choose_another_file()}
          </Button>
        </ErrorState>
      )}
      {analysis?.encodings && isEncodingOpen(draft) && (
        <EncodingQuestion
          readings={analysis.encodings}
          onChoose={(encoding) => all.choose(draft, { encoding })}
        />
      )}
      {fault !== 'foreign' && <FormatOptions draft={draft} all={all} />}
      {draft.notes.map((note) => (
        <Alert key={note}>{note}</Alert>
      ))}
      {analysis?.secondTable && (
        <Alert>
          {m.imports_second_table({
            row: analysis.secondTable.row,
            titles: analysis.secondTable.titles.join(', '),
          })}
        </Alert>
      )}
      {analysis && (
        <>
          {draft.parent && <p className={styles.hint}>{m.imports_nested_table_hint()}</p>}
          {draft.parent && draft.isOn && !columns.some(({ link }) => link?.by === 'row') && (
            <Alert>{m.imports_list_unlinked()}</Alert>
          )}
          <TargetPicker
            key={draft.key}
            baseId={baseId}
            target={target}
            tables={tables}
            mayCreate={mayCreate}
            onChange={(next) => all.setTarget(draft.key, next)}
          />
          <TargetNotes analysis={analysis} target={target} tables={tables} />
          {!refusal && (
            <>
              {target.kind === 'append' && (
                <UpdateOptions
                  columns={columns}
                  target={target}
                  onChange={(next) => all.setTarget(draft.key, next)}
                />
              )}
              <ColumnCards
                key={target.kind}
                draft={draft}
                analysis={analysis}
                targets={targets}
                onColumn={(index, patch) => all.setColumn(draft.key, index, patch)}
                onDisplay={(index) => all.setDisplay(draft.key, index)}
                onTickAll={(isOn) => all.tickAll(draft.key, isOn)}
              />
              {looked.problem !== null && <Alert tone="error">{looked.problem}</Alert>}
              <Notes draft={draft} />
            </>
          )}
        </>
      )}
    </div>
  )
}

/** Readings of a text in several encodings, of which the user chooses the right one. */
function EncodingQuestion({
  readings,
  onChoose,
}: {
  readings: readonly EncodingReading[]
  onChoose: (encoding: CsvEncoding) => void
}) {
  return (
    <Alert tone="error">
      {m.imports_encoding_question()}
      <ul className={styles.readings}>
        {readings.map(({ encoding, excerpt }) => (
          <li key={encoding}>
            <Button onClick={() => onChoose(encoding)}>
              <strong dir="auto">{excerpt}</strong>{' '}
              <span>{CSV_ENCODINGS.find(({ name }) => name === encoding)?.label}</span>
            </Button>
          </li>
        ))}
      </ul>
    </Alert>
  )
}

const rowsText = (count: number, isExact: boolean): string =>
  isExact ? m.imports_rows_count({ count }) : m.imports_about_rows({ count: roundish(count) })

/** Rounds an estimate to two digits: 1,234,567 becomes 1,200,000. */
function roundish(count: number): number {
  const step = 10 ** Math.max(0, Math.floor(Math.log10(count)) - 1)
  return Math.round(count / step) * step
}

/** True if the table was deleted while the dialog is open. */
export const isDeletedTarget = (target: DraftTarget, tables: readonly Table[] | undefined): boolean =>
  target.kind === 'append' && tables !== undefined && !tables.some(({ id }) => id === target.tableId)

/** Why an existing table takes no import, or some of the columns not. */
function TargetNotes({
  analysis,
  target,
  tables,
}: {
  analysis: Analysis
  target: DraftTarget
  tables: readonly Table[] | undefined
}) {
  if (target.kind === 'new') return null
  if (isDeletedTarget(target, tables)) return <Alert tone="error">{m.imports_target_deleted()}</Alert>
  if (target.refusal) {
    const table = tables?.find(({ id }) => id === target.tableId)?.title ?? ''
    return <Alert tone="error">{m.imports_target_refused({ table, reason: target.refusal })}</Alert>
  }
  const columns = unfilledColumns(analysis, target)
  return columns.length === 0 ? null : <Alert>{m.imports_not_filled({ columns: columns.join(', ') })}</Alert>
}

/** Problems and hints before the import starts. */
function Notes({ draft: { analysis, columns, target } }: { draft: Draft }) {
  if (!analysis) return null
  const problem = problemOf(columns, target)
  const misfits = columns.reduce((sum, column) => sum + countMisfits(analysis, column, target), 0)
  const missing = missingFields(columns, target).map(({ title }) => title)
  const takesNames =
    target.kind === 'append' &&
    target.fields.some(
      (field) =>
        linkOf(field) && columns.some(({ fieldId, isOn, link }) => isOn && !link && fieldId === field.id),
    )
  return (
    <>
      {takesNames && <p className={styles.hint}>{m.imports_link_column_hint()}</p>}
      {problem === 'none' && <Alert tone="error">{noneText(target.kind === 'append')}</Alert>}
      {problem === 'untitled' && <Alert tone="error">{m.imports_every_column_needs_a_name()}</Alert>}
      {problem === 'twice' && <Alert tone="error">{m.imports_two_columns_mapped_same_field()}</Alert>}
      {problem === 'key' && <Alert tone="error">{m.imports_choose_key_field()}</Alert>}
      {problem === 'required' && (
        <Alert tone="error">
          {m.imports_choose_column_required_fields_fields({ fields: missing.join(', ') })}
        </Alert>
      )}
      {(analysis.repeatedTitles ?? 0) > 0 && (
        <Alert>{m.imports_repeated_titles({ count: analysis.repeatedTitles ?? 0 })}</Alert>
      )}
      {analysis.quoteProblems > 0 && (
        <Alert>{m.imports_unbalanced_quotes({ count: analysis.quoteProblems })}</Alert>
      )}
      {misfits > 0 && <Alert>{m.imports_sample_invalid_cells({ count: misfits })}</Alert>}
    </>
  )
}

const noneText = (isAppend: boolean): string =>
  isAppend ? m.imports_map_least_one_column_field() : m.imports_select_at_least_one_column()

/** Progress while a file is uploaded and read; a small one is there at once. */
function Reading({ draft }: { draft: Draft | undefined }) {
  const { uploaded, rows, isOffline = false } = draft?.progress ?? { uploaded: null, rows: 0 }
  const percent = Math.floor((uploaded ?? 0) * 100)
  const uploading = isOffline
    ? m.imports_upload_interrupted({ percent })
    : m.imports_uploading_percent({ percent })
  const text = rows > 0 ? m.imports_rows_read({ count: rows }) : uploading
  return (
    <div className={styles.view} aria-busy>
      <p className={styles.hint} role="status">
        {rows > 0 || uploaded !== null || isOffline ? text : ' '}
      </p>
      {draft && <MemoryWarning source={draft.source} />}
      <Skeleton width={260} />
      <Skeleton height={32} />
      <Skeleton height={32} width="60%" />
      <Skeleton height={280} />
    </div>
  )
}

/** Warns of a large workbook that the server reads as a whole, while it is uploaded and before it is imported. */
function MemoryWarning({ source }: { source: ImportSource }) {
  const bytes = memoryForWhole(source)
  return bytes === null ? null : <Alert>{m.imports_read_whole({ memory: formatBytes(bytes) })}</Alert>
}

/** Limits of `imports.missingNames`: texts per column, and their total length. */
const MAX_TEXTS = 1000
const MAX_LENGTH = 200_000

/** The columns of a draft; those mapped to link fields with the cells that match no record. */
interface Looked {
  columns: DraftColumn[]
  /** Why link columns could not be checked, or null. */
  problem: string | null
}

/** Asks the server which cells of link columns match no record; until it answers, all count as matching. */
function useMissingNames(baseId: string, draft: Draft | undefined): Looked {
  const { analysis = null, columns = [], target } = draft ?? {}
  const asked = columns.flatMap((column) => {
    const field =
      target?.kind === 'append' ? target.fields.find(({ id }) => id === column.fieldId) : undefined
    const link = field && linkOf(field)
    // Rows of a table linked to itself may refer to each other, so they cannot be checked yet.
    const isOpen = target?.kind === 'append' && link?.relatedTableId === target.tableId
    // Nor can rows of the file instead of names.
    const areNames = !isOpen && !column.link
    if (!analysis || !link || !areNames || !column.isOn || target?.kind !== 'append') return []
    return [
      { index: column.index, tableId: target.tableId, fieldId: field.id, texts: textsOf(analysis, column) },
    ]
  })
  const answers = trpc.useQueries((q) =>
    asked.map(({ tableId, fieldId, texts }) =>
      q.imports.missingNames({ baseId, tableId, fieldId, texts, timeZone }),
    ),
  )
  const failed = answers.find(({ error }) => error !== null)?.error
  return {
    problem: failed ? messageOf(failed) : null,
    columns: columns.map((column) => {
      const at = asked.findIndex(({ index }) => index === column.index)
      const missing = answers[at]?.data?.missing.map((one) => asked[at]?.texts[one] ?? '')
      return { ...column, missing: new Set(missing) }
    }),
  }
}

/** Distinct texts of a column, up to the server's limits. */
function textsOf({ rows }: Analysis, { index }: DraftColumn): string[] {
  const texts: string[] = []
  let length = 0
  for (const text of new Set(rows.map((row) => row[index] ?? ''))) {
    if (text.trim() === '' || text.includes('\0') || !text.isWellFormed()) continue
    length += text.length
    if (texts.length === MAX_TEXTS || length > MAX_LENGTH) break
    texts.push(text)
  }
  return texts
}

interface TargetPickerProps {
  baseId: string
  target: DraftTarget
  tables: readonly Table[] | undefined
  mayCreate: boolean
  onChange: (target: DraftTarget) => void
}

/** Target of the rows: a new table with a title, or an existing one. */
function TargetPicker({ baseId, target, tables, mayCreate, onChange }: TargetPickerProps) {
  const id = useId()
  const [title, setTitle] = useState(target.kind === 'new' ? target.title : '')
  const [newIn, setNewIn] = useState(target.kind === 'new' ? target.sourceId : undefined)
  // The latest choice, shown while the table's fields load.
  const [wanted, setWanted] = useState<DraftTarget['kind']>(target.kind)
  const isTaken = tables?.some((table) => table.title.toLowerCase() === title.trim().toLowerCase())

  async function choose(tableId: string): Promise<void> {
    setWanted('append')
    try {
      const update = target.kind === 'append' && target.update ? { ...target.update, keys: null } : undefined
      onChange({ ...(await loadTarget(tableId)), update })
    } catch (error) {
      setWanted(target.kind)
      showError(error)
    }
  }

  const first = tables?.[0]
  return (
    <fieldset className={styles.target}>
      <legend className="visually-hidden">{m.imports_import_into()}</legend>
      {mayCreate && (
        <span className={styles.option}>
          <input
            type="radio"
            id={`${id}-new`}
            name={id}
            checked={wanted === 'new'}
            onChange={() => {
              setWanted('new')
              onChange({ kind: 'new', title, sourceId: newIn })
            }}
          />
          <label htmlFor={`${id}-new`}>{m.common_new_table()}</label>
          {target.kind === 'new' && (
            <input
              className={styles.text}
              aria-label={m.imports_table_name()}
              aria-invalid={isTaken || title.trim() === '' || undefined}
              dir="auto"
              maxLength={255}
              value={title}
              onChange={(event) => {
                setTitle(event.target.value)
                onChange({ ...target, title: event.target.value })
              }}
            />
          )}
          {target.kind === 'new' && (
            <DatabasePicker
              baseId={baseId}
              sourceId={target.sourceId}
              onChange={(sourceId) => {
                setNewIn(sourceId)
                onChange({ ...target, sourceId })
              }}
            />
          )}
          {target.kind === 'new' && isTaken && (
            <span role="alert">{m.imports_table_name_already_exists()}</span>
          )}
        </span>
      )}
      {(first || target.kind === 'append') && (
        <span className={styles.option}>
          <input
            type="radio"
            id={`${id}-append`}
            name={id}
            checked={wanted === 'append'}
            onChange={() => first && void choose(first.id)}
          />
          <label htmlFor={`${id}-append`}>{m.imports_existing_table()}</label>
          {target.kind === 'append' && (
            <select
              className={styles.select}
              aria-label={m.common_table()}
              value={target.tableId}
              onChange={(event) => void choose(event.target.value)}
            >
              {isDeletedTarget(target, tables) && (
                <option value={target.tableId}>{m.imports_deleted_table()}</option>
              )}
              {tables?.map((table) => (
                <option key={table.id} value={table.id}>
                  {table.title}
                </option>
              ))}
            </select>
          )}
        </span>
      )}
    </fieldset>
  )
}

interface DatabasePickerProps {
  baseId: string
  sourceId: string | undefined
  onChange: (sourceId: string | undefined) => void
}

/** The database of a new table, where the base has more than its own. */
function DatabasePicker({ baseId, sourceId, onChange }: DatabasePickerProps) {
  const sources = trpc.sources.list.useQuery({ baseId }, { staleTime: 60_000 })
  const connected = sources.data?.filter(({ isOwn, isEnabled }) => !isOwn && isEnabled) ?? []
  if (connected.length === 0) return null
  return (
    <select
      className={styles.select}
      aria-label={m.imports_database()}
      value={sourceId ?? ''}
      onChange={(event) => onChange(event.target.value || undefined)}
    >
      <option value="">{m.sources_this_bases_own_tables()}</option>
      {connected.map((source) => {
        const isReadOnly = source.isSchemaReadonly || source.isDataReadonly
        const name = nameOf(source)
        return (
          <option key={source.id} value={source.id} disabled={isReadOnly}>
            {isReadOnly ? m.imports_database_read_only({ name }) : name}
          </option>
        )
      })}
    </select>
  )
}
