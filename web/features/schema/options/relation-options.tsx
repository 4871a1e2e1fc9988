import { Table2 } from 'lucide-react'
import { shownType } from '../../../../src/core/fields/field.ts'
import { fieldType } from '../../../../src/core/fields/index.ts'
import { linkOf } from '../../../../src/core/fields/link-options.ts'
import { ROLLUP_FUNCTIONS, type RollupFunction } from '../../../../src/core/fields/rollup.ts'
import { isForeignKey, rollupFunctionsFor } from '../../../../src/core/fields/traits.ts'
import type { Field } from '../../../../src/core/model.ts'
import { CELLS } from '../../../cells/index.ts'
import { messageOf } from '../../../errors.ts'
import { m } from '../../../messages.gen.ts'
import { trpc } from '../../../trpc.ts'
import { Button } from '../../../ui/button.tsx'
import { TextField } from '../../../ui/field.tsx'
import editor from '../field-editor.module.css'
import { Choice, type FieldOptionsProps, SearchChoice, Tick } from './controls.tsx'
import { NumberOptions } from './number-options.tsx'
import styles from './options.module.css'

/** Link and shown field of a lookup. */
export function LookupOptions(props: FieldOptionsProps) {
  return (
    <Relation {...props} accepts={() => true}>
      {(targets) => <Target {...props} targets={targets} />}
    </Relation>
  )
}

/** Link of a count. */
export function CountOptions(props: FieldOptionsProps) {
  return (
    <Relation {...props} accepts={(link) => link.kind === 'hm' || link.kind === 'mm'}>
      {() => null}
    </Relation>
  )
}

/** Link, aggregated field and function of a rollup. */
export function RollupOptions(props: FieldOptionsProps) {
  const { options, onChange } = props
  return (
    <Relation {...props} accepts={(link) => link.kind === 'hm' || link.kind === 'mm'}>
      {(targets) => {
        const target = targets.find((field) => field.id === options.targetFieldId)
        const offered = target ? rollupFunctionsFor(target) : ROLLUP_FUNCTIONS
        const chosen = offered.find((one) => one === options.function) ?? offered[0] ?? 'count'
        return (
          <>
            <Target
              {...props}
              targets={targets}
              onChange={(next) => {
                const field = targets.find((one) => one.id === next.targetFieldId)
                const fits = field ? rollupFunctionsFor(field) : ROLLUP_FUNCTIONS
                // `count` is only the initial function: prefer the sum for numbers that are not ids.
                const isChosen = props.field !== null || next.function !== 'count'
                const keeps = isChosen && fits.some((one) => one === next.function)
                const isId = field !== undefined && shownType(field).type.storage === 'id'
                const usual = fits.includes('sum') && !isId ? 'sum' : (fits[0] ?? 'count')
                onChange({ ...next, function: keeps ? next.function : usual })
              }}
            />
            <Choice
              label={m.schema_aggregation()}
              value={chosen}
              values={offered.map((value) => ({ value, label: functionLabel(value) }))}
              onChange={(name) => onChange({ ...options, function: name })}
            />
            {target && givesNumber(target, chosen) && <NumberLook options={options} onChange={onChange} />}
          </>
        )
      }}
    </Relation>
  )
}

/** Whether the result is a number that can be formatted, unlike the earliest of some dates. */
function givesNumber(target: Field, name: RollupFunction): boolean {
  if (name !== 'min' && name !== 'max') return true
  return shownType(target).type.filters === 'number'
}

/** Number format of a rollup; by default that of its target field. */
function NumberLook({ options, onChange }: Pick<FieldOptionsProps, 'options' | 'onChange'>) {
  const { precision } = options
  return (
    <>
      <Choice
        label={m.schema_decimal_places()}
        value={typeof precision === 'number' ? precision : -1}
        values={[
          { value: -1, label: m.schema_same_as_the_field() },
          ...Array.from({ length: 9 }, (_, digits) => ({ value: digits, label: String(digits) })),
        ]}
        onChange={(digits) => onChange({ ...options, precision: digits < 0 ? null : digits })}
      />
      <NumberOptions options={options} onChange={onChange} />
    </>
  )
}

const functionLabel = (name: RollupFunction): string =>
  ({
    count: m.schema_count(),
    sum: m.schema_sum(),
    avg: m.schema_average(),
    min: m.schema_minimum(),
    max: m.schema_maximum(),
    countDistinct: m.schema_count_unique(),
    sumDistinct: m.schema_sum_unique(),
    avgDistinct: m.schema_average_unique(),
  })[name]

interface RelationProps extends FieldOptionsProps {
  accepts: (link: NonNullable<ReturnType<typeof linkOf>>) => boolean
  /** Renders the other options, given the fields of the related table. */
  children: (targets: Field[]) => React.ReactNode
}

/** Chooses the link that a field follows; without links, offers to create one. */
function Relation({ options, onChange, table, chooseType, accepts, children }: RelationProps) {
  const own = trpc.schema.table.useQuery({ tableId: table.id })
  const links = (own.data?.fields ?? []).flatMap((field) => {
    const link = linkOf(field)
    return link && accepts(link) && !field.isSystem ? [{ field, link }] : []
  })
  const chosen = links.find(({ field }) => field.id === options.relationFieldId)
  const relatedTableId = chosen?.link.relatedTableId ?? ''
  const related = trpc.schema.table.useQuery({ tableId: relatedTableId }, { enabled: chosen !== undefined })
  if (own.data && links.length === 0) {
    return (
      <div className={editor.part}>
        <p className={styles.note}>{m.schema_field_needs_link_another_table()}</p>
        <Button size="small" onClick={() => chooseType('Links')}>
          {m.schema_add_a_link_field()}
        </Button>
      </div>
    )
  }
  return (
    <div className={editor.part}>
      <SearchChoice
        label={m.common_link()}
        value={chosen?.field.id ?? ''}
        placeholder={m.schema_choose_a_link()}
        lines={links.map(({ field }) => lineOf(field))}
        onChange={(relationFieldId) => onChange({ ...options, relationFieldId, targetFieldId: '' })}
      />
      {related.error && (
        <p className={styles.note} role="alert">
          {messageOf(related.error)}
        </p>
      )}
      {chosen && related.data && children(related.data.fields.filter((field) => !field.isSystem))}
    </div>
  )
}

function lineOf({ id, title, type }: Field) {
  const { Icon } = CELLS[type]
  return { value: id, label: title, icon: <Icon size={14} aria-hidden /> }
}

function Target({ options, onChange, targets }: FieldOptionsProps & { targets: Field[] }) {
  // Fields without a value cannot be looked up.
  const offered = targets.filter(
    (field) =>
      field.id === options.targetFieldId ||
      (fieldType(field.type).computed !== 'button' && !isForeignKey(field) && field.error === null),
  )
  return (
    <SearchChoice
      label={m.common_field()}
      value={String(options.targetFieldId ?? '')}
      placeholder={m.schema_choose_a_field()}
      lines={offered.map(lineOf)}
      onChange={(targetFieldId) => onChange({ ...options, targetFieldId })}
    />
  )
}

/** Related table and kind of a new link; of an existing one only its labels and the selectable records. */
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
            // A converted value names the linked records of its own record, which determines the possible kinds.
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
