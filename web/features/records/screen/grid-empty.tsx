import { ClipboardPaste, FileUp, Plus, SearchX, Table2, X } from 'lucide-react'
import type { Search } from '../../../../src/core/query.ts'
import { m } from '../../../messages.gen.ts'
import { loadPart } from '../../../navigation/lazy-screen.ts'
import { attempt } from '../../../ui/attempt.ts'
import { Button } from '../../../ui/button.tsx'
import { EmptyState } from '../../../ui/states.tsx'
import { openImport } from '../../imports/open-import.ts'
import { describeCondition } from '../../views/filter/describe-condition.ts'
import {
  asGroup,
  completeFilter,
  conditionsOf,
  fromGroup,
  replaceAt,
} from '../../views/filter/filter-edit.ts'
import styles from '../bars/table-view.module.css'
import { can, fieldOf, type TableContext } from '../context/table-context.ts'

export interface GridEmptyProps {
  context: TableContext
  search: Search | null
  onSearch: (search: Search | null) => void
  onAddRecord: () => void
}

/** Empty state of a grid: first steps, or the filters that hide all records. */
export function GridEmpty({ context, search, onSearch, onAddRecord }: GridEmptyProps) {
  const { state, schema } = context
  const active = conditionsOf(completeFilter(state.view.filter, schema.fields))
  if (search || active.length > 0) return <NoMatch context={context} search={search} onSearch={onSearch} />
  const { baseId, id: tableId } = schema.table
  if (!can(context, 'record.create')) {
    return <EmptyState icon={Table2} title={m.records_no_records_yet()} />
  }
  return (
    <EmptyState
      icon={Table2}
      title={m.records_no_records_yet()}
      text={m.records_add_record_import_file_paste()}
    >
      <Button variant="primary" icon={Plus} onClick={onAddRecord}>
        {m.records_add_record()}
      </Button>
      <Button icon={FileUp} onClick={() => openImport(null, { baseId, tableId })}>
        {m.records_import()}
      </Button>
      <Button icon={ClipboardPaste} onClick={() => void paste(context)}>
        {m.records_paste()}
      </Button>
    </EmptyState>
  )
}

const paste = (context: TableContext) =>
  attempt(async () => {
    const { pasteFromButton } = await loadPart(() => import('../paste/paste-sheet.ts'))
    await pasteFromButton(() => context)
  })

function NoMatch({ context, search, onSearch }: Omit<GridEmptyProps, 'onAddRecord'>) {
  const { state, schema } = context
  const { filter } = state.view
  const group = asGroup(filter)
  const active = conditionsOf(group).filter(
    ({ condition }) => completeFilter(condition, schema.fields) !== null,
  )
  return (
    <EmptyState icon={SearchX} title={m.common_no_matching_records()}>
      <ul className={styles.conditions}>
        {search && (
          <li>
            <button type="button" className={styles.condition} onClick={() => onSearch(null)}>
              <span dir="auto">{m.records_contains_text({ text: search.text })}</span>
              <X size={13} aria-label={m.common_remove()} />
            </button>
          </li>
        )}
        {active.map(({ condition, path }) => {
          const field = fieldOf(context, condition.fieldId)
          if (!field) return null
          return (
            <li key={path.join('.')}>
              <button
                type="button"
                className={styles.condition}
                onClick={() => state.update({ filter: fromGroup(replaceAt(group, path, null)) })}
              >
                <span dir="auto">{describeCondition(condition, field, context.people)}</span>
                <X size={13} aria-label={m.common_remove()} />
              </button>
            </li>
          )
        })}
      </ul>
      <Button
        variant="primary"
        onClick={() => {
          onSearch(null)
          if (filter) state.update({ filter: null })
        }}
      >
        {m.records_clear_all()}
      </Button>
    </EmptyState>
  )
}
