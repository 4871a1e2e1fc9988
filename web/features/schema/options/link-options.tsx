import { Table2 } from 'lucide-react'
import { t } from '../../../i18n.ts'
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
  const here = own?.title ?? t('This table')
  const there = related?.title ?? t('the other table')
  const kinds = [
    { value: 'mm', label: t('Many to many') },
    { value: 'hm', label: t('Has many') },
    { value: 'bt', label: t('Belongs to one') },
    { value: 'oo', label: t('One to one') },
  ]
  const kind = String(options.kind ?? 'mm')
  const isMade = field !== null
  const kindLabel = kinds.find((one) => one.value === kind)?.label ?? kind
  return (
    <div className={editor.part}>
      {isMade ? (
        <p className={styles.note}>
          <bdi>{t('{kind} with {table}', { kind: kindLabel, table: there })}</bdi>
          <br />
          <bdi>{explain(kind, here, there)}</bdi>
        </p>
      ) : (
        <>
          <SearchChoice
            label={t('Table')}
            value={relatedTableId}
            placeholder={t('Choose a table')}
            lines={linkable.map((one) => ({
              value: one.id,
              label: one.title,
              icon: <Table2 size={14} aria-hidden />,
            }))}
            onChange={(id) => onChange({ ...options, relatedTableId: id, viewId: null })}
          />
          <Choice
            label={t('Relationship')}
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
          label={t('Records to choose from')}
          value={String(options.viewId ?? '')}
          values={[
            { value: '', label: t('All records') },
            ...views.data.views.map((view) => ({ value: view.id, label: view.title })),
          ]}
          onChange={(id) => onChange({ ...options, viewId: id === '' ? null : id })}
        />
      )}
      {!isMade && relatedTableId !== table.id && (
        <Tick
          label={t('Show a matching field in {table}', { table: there })}
          checked={options.createInverse !== false}
          onChange={(createInverse) => onChange({ ...options, createInverse })}
        />
      )}
      <div className={styles.pair}>
        <TextField
          label={t('Singular name')}
          placeholder={t('record')}
          maxLength={255}
          value={String(options.singular ?? '')}
          onChange={(event) => onChange({ ...options, singular: event.target.value })}
        />
        <TextField
          label={t('Plural name')}
          placeholder={t('records')}
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
  if (kind === 'hm')
    return t(
      'Each {here} record has many {there} records; each {there} record belongs to one {here} record.',
      names,
    )
  if (kind === 'bt')
    return t(
      'Each {here} record belongs to one {there} record; each {there} record has many {here} records.',
      names,
    )
  if (kind === 'oo')
    return t('Each {here} record links to one {there} record, and the other way round.', names)
  return t('Each {here} record links to many {there} records, and the other way round.', names)
}
