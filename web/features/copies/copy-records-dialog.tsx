import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { RecordId, Table } from '../../../src/core/model.ts'
import {
  type CopyTarget,
  MAX_COPIED_RECORDS,
  type RecordCopyPreview,
  type RecordsCopied,
  type RefusedValues,
} from '../../../src/core/record-copies.ts'
import { roleCan } from '../../../src/core/roles.ts'
import { messageOf } from '../../errors.ts'
import { m } from '../../messages.gen.ts'
import { goTo, paths } from '../../navigation/paths.ts'
import { timeZone } from '../../time-zone.ts'
import { api, cache, trpc } from '../../trpc.ts'
import { Alert } from '../../ui/alert.tsx'
import { showError } from '../../ui/attempt.ts'
import { DialogButtons } from '../../ui/dialog-buttons.tsx'
import { useIsMounted } from '../../ui/effects.ts'
import { SelectField } from '../../ui/field.tsx'
import { Dialog } from '../../ui/overlays.ts'
import { QueryError, Skeleton } from '../../ui/states.tsx'
import { toast } from '../../ui/toast.ts'
import { followJob } from '../sources/jobs.ts'
import toolbar from '../views/controls/toolbar.module.css'
import styles from './copies.module.css'
import { CopyProgress, type Progress, Running } from './copy-dialog.tsx'

interface CopyRecordsDialogProps {
  /** The table of the records. */
  table: Table
  recordIds: RecordId[]
  /** Moves the records: the originals go to the trash. */
  isMove: boolean
  onDone: () => void
  onClose: () => void
}

/** Copies or moves records to another table, after a choice of the fields and a preview of what does not fit. */
export function CopyRecordsDialog({ table, recordIds, isMove, onDone, onClose }: CopyRecordsDialogProps) {
  const [chosenBase, setChosenBase] = useState<string>()
  const [chosenTable, setChosenTable] = useState<string>()
  const [mapping, setMapping] = useState<Record<string, string | null>>()
  const [isRunning, setIsRunning] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  const isOpen = useIsMounted()
  const count = recordIds.length
  const isJob = count > MAX_COPIED_RECORDS
  const [jobId, setJobId] = useState<string | null>(null)
  const [progress, setProgress] = useState<Progress>({ done: 0, total: null })

  const bases = trpc.bases.list.useQuery({})
  const offered = bases.data?.filter(({ role }) => roleCan(role, 'record.create'))
  const baseId = chosenBase ?? (offered?.find(({ id }) => id === table.baseId) ?? offered?.[0])?.id
  const tables = trpc.schema.tables.useQuery({ baseId: baseId ?? '' }, { enabled: baseId !== undefined })
  const targets = tables.data?.filter(({ id }) => id !== table.id)
  const target = targets?.find(({ id }) => id === chosenTable) ?? targets?.[0]
  const request = { tableId: table.id, recordIds, targetTableId: target?.id ?? '', mapping, timeZone }
  // Of many, the first ones are looked at; the job checks all before it writes any.
  const previewed = isJob ? { ...request, recordIds: recordIds.slice(0, MAX_COPIED_RECORDS) } : request
  const preview = useQuery({
    queryKey: ['copies.previewRecords', previewed],
    queryFn: () => api.copies.previewRecords.mutate(previewed),
    enabled: target !== undefined,
    staleTime: 0,
    retry: false,
    // Another mapping keeps the list of fields in place; another table has other fields.
    placeholderData: (last: RecordCopyPreview | undefined) => (mapping === undefined ? undefined : last),
  })
  const { data } = preview
  const isReady =
    target !== undefined && data !== undefined && !preview.isPlaceholderData && data.missing.length === 0

  /** The result; null if the job was cancelled before it copied anything. */
  async function copyAll(): Promise<Omit<RecordsCopied, 'tableId'> | null> {
    if (!isJob) {
      const { ids, ...copied } = await api.copies.records.mutate({ ...request, isMove })
      return { ...copied, copied: ids.length, left: 0 }
    }
    const { jobId: started } = await api.copies.manyRecords.mutate({ ...request, isMove })
    setJobId(started)
    const ended = await followJob(started, setProgress)
    return ended && (ended.result as RecordsCopied)
  }

  async function submit() {
    if (isRunning || !isReady || !target) return
    setIsRunning(true)
    setProblem(null)
    try {
      const copied = await copyAll()
      if (copied === null) {
        if (isOpen.current) onClose()
        return
      }
      void cache.trash.invalidate()
      const open = () => goTo(paths.table(target.baseId, target.id))
      toast.success({
        text: isMove
          ? m.copies_records_moved({ count: copied.deleted, table: target.title })
          : m.copies_records_copied({ count: copied.copied, table: target.title }),
        action: { label: m.common_open(), run: open },
      })
      if (copied.left > 0) toast.warning({ text: m.copies_records_left({ count: copied.left }) })
      if (isJob && copied.refused.length > 0)
        toast.warning({
          text: copied.refused
            .map(({ title, count }) => m.copies_values_that_do_not_fit({ field: title, count }))
            .join(' '),
        })
      if (copied.kept) toast.error({ text: m.copies_records_kept(copied.kept) })
      onDone()
      onClose()
    } catch (error) {
      if (isOpen.current) setProblem(messageOf(error))
      else showError(error)
    } finally {
      setIsRunning(false)
      setJobId(null)
    }
  }

  return (
    <Dialog
      title={isMove ? m.copies_move_records_title({ count }) : m.copies_copy_records_title({ count })}
      onClose={onClose}
      onSubmit={() => void submit()}
      footer={
        jobId !== null ? (
          <Running jobId={jobId} onProblem={setProblem} onClose={onClose} />
        ) : (
          <DialogButtons
            label={isMove ? m.copies_move() : m.copies_copy()}
            busy={isRunning}
            disabled={!isReady}
            onClose={onClose}
          />
        )
      }
    >
      {jobId !== null && target && (
        <div className={styles.form}>
          <CopyProgress text={m.copies_records_to({ table: target.title })} {...progress} />
          {problem !== null && <Alert tone="error">{problem}</Alert>}
        </div>
      )}
      {jobId === null && (
        <div className={styles.form}>
          {bases.error && !bases.data ? (
            <QueryError title={m.copies_bases_load_failed()} query={bases} />
          ) : !offered ? (
            <Skeleton height={56} />
          ) : offered.length === 0 ? (
            <p className={styles.text}>{m.copies_no_base_for_records()}</p>
          ) : (
            <SelectField
              label={m.copies_to_base()}
              value={baseId}
              onChange={(event) => {
                setChosenBase(event.target.value)
                setChosenTable(undefined)
                setMapping(undefined)
              }}
            >
              {offered.map(({ id, title }) => (
                <option key={id} value={id}>
                  {title}
                </option>
              ))}
            </SelectField>
          )}
          {baseId === undefined ? null : tables.error && !tables.data ? (
            <QueryError title={m.copies_tables_load_failed()} query={tables} />
          ) : !targets ? (
            <Skeleton height={56} />
          ) : targets.length === 0 ? (
            <p className={styles.text}>{m.copies_no_table_for_records()}</p>
          ) : (
            <SelectField
              label={m.common_table()}
              data-autofocus
              value={target?.id}
              onChange={(event) => {
                setChosenTable(event.target.value)
                setMapping(undefined)
              }}
            >
              {targets.map(({ id, title }) => (
                <option key={id} value={id}>
                  {title}
                </option>
              ))}
            </SelectField>
          )}
          {!target ? null : preview.error ? (
            <QueryError title={m.copies_preview_load_failed()} query={preview} />
          ) : data ? (
            <>
              <FieldMapping preview={data} onChange={setMapping} />
              <PreviewNotes preview={data} />
            </>
          ) : (
            <Skeleton height={160} />
          )}
          {isMove && <p className={styles.text}>{m.copies_move_records_hint()}</p>}
          {isJob && (
            <p className={styles.text}>{m.copies_many_records_hint({ count: MAX_COPIED_RECORDS })}</p>
          )}
          {problem !== null && <Alert tone="error">{problem}</Alert>}
        </div>
      )}
    </Dialog>
  )
}

/** The fields of the target table, each with a choice of the field that fills it. */
function FieldMapping({
  preview: { targets, sources },
  onChange,
}: {
  preview: RecordCopyPreview
  onChange: (mapping: Record<string, string | null>) => void
}) {
  const choose = (fieldId: string, sourceId: string) =>
    onChange(
      Object.fromEntries(
        targets.map((target) => [target.id, target.id === fieldId ? sourceId || null : target.sourceId]),
      ),
    )
  return (
    <fieldset className={styles.mapping}>
      <legend className={styles.legend}>{m.copies_fields_of_the_copies()}</legend>
      {targets.map((target) => (
        <label key={target.id} className={styles.pair}>
          <span dir="auto">{labelOf(target)}</span>
          <select
            className={`${toolbar.select} ${styles.source}`}
            value={target.sourceId ?? ''}
            onChange={(event) => choose(target.id, event.target.value)}
          >
            <option value="">{m.copies_field_not_filled()}</option>
            {sources
              .filter(({ holdsFiles }) => holdsFiles || !target.holdsFiles)
              .map(({ id, title }) => (
                <option key={id} value={id}>
                  {title}
                </option>
              ))}
          </select>
        </label>
      ))}
    </fieldset>
  )
}

const labelOf = ({ title, required }: CopyTarget): string =>
  required ? m.copies_required_field({ field: title }) : title

/** What the copies will not have. */
function PreviewNotes({ preview: { left, refused, missing } }: { preview: RecordCopyPreview }) {
  return (
    <div className={styles.notes} data-testid="copy-notes" aria-live="polite">
      {missing.map((one) => (
        <Alert key={one.title} tone="error">
          {m.copies_required_without_values({ field: one.title, count: one.count })}
        </Alert>
      ))}
      {left.length > 0 && (
        <p className={styles.text}>{m.copies_fields_left_out({ fields: left.join(', ') })}</p>
      )}
      {refused.map((field) => (
        <Refused key={field.fieldId} field={field} />
      ))}
    </div>
  )
}

function Refused({ field: { title, count, examples } }: { field: RefusedValues }) {
  return (
    <details className={styles.refused}>
      <summary>{m.copies_values_that_do_not_fit({ field: title, count })}</summary>
      <ul>
        {examples.map(({ value, reason }) => (
          <li key={value}>
            <span dir="auto">{value}</span>
            <small>{reason}</small>
          </li>
        ))}
      </ul>
    </details>
  )
}
