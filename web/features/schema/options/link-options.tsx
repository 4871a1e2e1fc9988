import { Table2 } from 'lucide-react'
import { m } from '../../../messages.gen.ts'
import { trpc } from '../../../trpc.ts'
import { TextField } from '../../../ui/field.tsx'
import editor from '../field-editor.module.css'
import styles from './options.module.css'
import type { FieldOptionsProps } from './options-props.ts'
import { Choice, Tick } from './parts.tsx'
import { SearchChoice } from './search-choice.tsx'

/** What a link connects, and how many on each side; afterwards only its words and what may be chosen. */
export function LinkOptions({ options, onChange, table, field, isConverting }: FieldOptionsProps) {
  const tables = trpc.schema.tables.useQuery({ baseId: table.baseId })
  const own = tables.data?.find((one) => one.id === table.id)
  const relatedTableId = String(options.relatedTableId ?? '')
  const related = tables.data?.find((one) => one.id === relatedTableId)
  const views = trpc.schema.table.useQuery({ tableId: relatedTableId }, { enabled: relatedTableId !== '' })
  const linkable = (tables.data ?? []).filter(
    (one) => one.kind === 'table' && !one.isJunction && one.sourceId === own?.sourceId,
  )
  const here = own?.title ?? m.schema_this_table()
  const there = related?.title ?? m.schema_the_other_table()
  const kinds = [
    { value: 'mm', label: m.schema_many_to_many() },
    { value: 'hm', label: m.schema_has_many() },
    { value: 'bt', label: m.schema_belongs_to_one() },
    { value: 'oo', label: m.schema_one_to_one() },
  ]
  const kind = String(options.kind ?? 'mm')
  const isMade = field !== null
  const kindLabel = kinds.find((one) => one.value === kind)?.label ?? kind
  return (
    <div className={editor.part}>
      {isMade ? (
        <p className={styles.note}>
          <bdi>{m.schema_relationship_with_table({ kind: kindLabel, table: there })}</bdi>
          <br />
          <bdi>{explain(kind, here, there)}</bdi>
        </p>
      ) : (
        <>
          <SearchChoice
            label={m.common_table()}
            value={relatedTableId}
            placeholder={m.schema_choose_a_table()}
            lines={linkable.map((one) => ({
              value: one.id,
              label: one.title,
              icon: <Table2 size={14} aria-hidden />,
            }))}
            onChange={(id) => onChange({ ...options, relatedTableId: id, viewId: null })}
          />
          <Choice
            label={m.schema_relationship()}
            value={kind}
            // A value names what its own record is linked to, not whose only one it is.
            values={kinds.filter(({ value }) => !isConverting || value === 'mm' || value === 'bt')}
            onChange={(next) => onChange({ ...options, kind: next })}
          />
          <p className={styles.note}>
            <bdi>{explain(kind, here, there)}</bdi>
          </p>
        </>
      )}
      {views.data && (
        <Choice
          label={m.schema_records_to_choose_from()}
          value={String(options.viewId ?? '')}
          values={[
            { value: '', label: m.schema_all_records() },
            ...views.data.views.map((view) => ({ value: view.id, label: view.title })),
          ]}
          onChange={(id) => onChange({ ...options, viewId: id === '' ? null : id })}
        />
      )}
      {!isMade && relatedTableId !== table.id && (
        <Tick
          label={m.schema_show_matching_field_table({ table: there })}
          checked={options.createInverse !== false}
          onChange={(createInverse) => onChange({ ...options, createInverse })}
        />
      )}
      <div className={styles.pair}>
        <TextField
          label={m.schema_singular_name()}
          placeholder={m.common_record_noun()}
          maxLength={255}
          value={String(options.singular ?? '')}
          onChange={(event) => onChange({ ...options, singular: event.target.value })}
        />
        <TextField
          label={m.schema_plural_name()}
          placeholder={m.common_records_noun()}
          maxLength={255}
          value={String(options.plural ?? '')}
          onChange={(event) => onChange({ ...options, plural: event.target.value })}
        />
      </div>
    </div>
  )
}

function explain(kind: string, here: string, there: string): string {
  const names = { here, there }
  if (kind === 'hm') return m.schema_has_many_hint(names)
  if (kind === 'bt') return m.schema_belongs_to_one_hint(names)
  if (kind === 'oo') return m.schema_one_to_one_hint(names)
  return m.schema_many_to_many_hint(names)
}
