import { useState } from 'react'
import type { Table } from '../../../src/core/model.ts'
import { roleCan } from '../../../src/core/roles.ts'
import type { CopiedField, TableCopyPreview } from '../../../src/core/table-copies.ts'
import { m } from '../../messages.gen.ts'
import { goTo, paths } from '../../navigation/paths.ts'
import { api, cache, trpc } from '../../trpc.ts'
import { Checkbox } from '../../ui/checkbox.tsx'
import { SelectField } from '../../ui/field.tsx'
import { QueryError, Skeleton } from '../../ui/states.tsx'
import styles from './copies.module.css'
import { CopyDialog } from './copy-dialog.tsx'

interface ToBaseDialogProps {
  table: Table
  /** Moves the table: the original goes to the trash. */
  isMove: boolean
  onClose: () => void
}

/** Copies or moves a table to another base, after a preview of what becomes of its fields. */
export function ToBaseDialog({ table, isMove, onClose }: ToBaseDialogProps) {
  const { id: tableId, title } = table
  const bases = trpc.bases.list.useQuery({})
  const preview = trpc.copies.previewToBase.useQuery({ tableId }, { staleTime: 0 })
  const offered = bases.data?.filter(
    ({ id, role }) => roleCan(role, 'table.create') && !(isMove && id === table.baseId),
  )
  const [chosen, setChosen] = useState<string>()
  const [withData, setWithData] = useState(true)
  const [withViews, setWithViews] = useState(true)
  const [withComments, setWithComments] = useState(true)
  const [withHooks, setWithHooks] = useState(isMove)
  const { comments = 0, webhooks = 0 } = preview.data ?? {}
  const other = offered?.find(({ id }) => id !== table.baseId)
  const baseId = chosen ?? other?.id ?? offered?.[0]?.id
  return (
    <CopyDialog
      title={title}
      heading={isMove ? m.copies_move_to_base_title({ title }) : m.copies_copy_to_base_title({ title })}
      submitLabel={isMove ? m.copies_move() : m.copies_copy()}
      waiting={isMove ? m.copies_moving_table() : m.copies_copying_table()}
      isReady={baseId !== undefined && preview.data !== undefined}
      start={async () => {
        const target = baseId ?? ''
        const options = {
          tableId,
          baseId: target,
          withData,
          withViews,
          withComments: withData && withComments,
          withHooks: withHooks && webhooks > 0,
          isMove,
        }
        const copy = await api.copies.tableToBase.mutate(options)
        return {
          jobId: copy.jobId,
          async finish(result) {
            await Promise.all([cache.schema.invalidate(), cache.trash.invalidate()])
            const { cellsLeftOut } = result as { cellsLeftOut: number }
            return cellsLeftOut > 0
              ? m.copies_title_is_ready_without({ title, count: cellsLeftOut })
              : m.copies_title_is_ready({ title })
          },
          open: () => goTo(paths.table(target, copy.tableId)),
        }
      }}
      onClose={onClose}
    >
      {bases.error && !bases.data ? (
        <QueryError title={m.copies_bases_load_failed()} query={bases} />
      ) : !offered ? (
        <Skeleton height={56} />
      ) : offered.length === 0 ? (
        <p className={styles.text}>{m.copies_no_base_to_copy_to()}</p>
      ) : (
        <SelectField
          label={m.copies_to_base()}
          data-autofocus
          value={baseId}
          onChange={(event) => setChosen(event.target.value)}
        >
          {offered.map(({ id, title: name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </SelectField>
      )}
      {!isMove && <Checkbox label={m.common_records()} checked={withData} onChange={setWithData} />}
      <Checkbox label={m.copies_include_all_views()} checked={withViews} onChange={setWithViews} />
      {comments > 0 && (
        <Checkbox
          label={m.copies_include_comments({ count: comments })}
          checked={withData && withComments}
          disabled={!withData}
          onChange={setWithComments}
        />
      )}
      {webhooks > 0 && (
        <Checkbox
          label={m.copies_include_webhooks({ count: webhooks })}
          help={isMove ? undefined : m.copies_webhooks_off()}
          checked={withHooks}
          onChange={setWithHooks}
        />
      )}
      {preview.error && !preview.data ? (
        <QueryError title={m.copies_preview_load_failed()} query={preview} />
      ) : preview.data ? (
        <FieldNotes preview={preview.data} />
      ) : (
        <Skeleton height={40} />
      )}
      {isMove && <p className={styles.text}>{m.copies_move_hint()}</p>}
    </CopyDialog>
  )
}

/** What becomes of record ids, and of the fields that are not copied as they are. */
function FieldNotes({ preview: { fields, keepsIds } }: { preview: TableCopyPreview }) {
  const titlesOf = (effect: CopiedField['effect']): string =>
    fields
      .filter((field) => field.effect === effect)
      .map(({ title }) => title)
      .join(', ')
  const [values, left] = [titlesOf('values'), titlesOf('left')]
  return (
    <div data-testid="copied-fields">
      <p className={styles.text}>{keepsIds ? m.copies_to_base_hint() : m.copies_to_base_hint_new_ids()}</p>
      {values !== '' && <p className={styles.text}>{m.copies_fields_become_values({ fields: values })}</p>}
      {left !== '' && <p className={styles.text}>{m.copies_fields_left_out({ fields: left })}</p>}
    </div>
  )
}
