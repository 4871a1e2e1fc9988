import { ChevronsDownUp, ChevronsUpDown, Eye, SquareKanban } from 'lucide-react'
import { summarySetOf } from '../../../../../src/core/fields/field.ts'
import type { Field } from '../../../../../src/core/model.ts'
import { summariesFor } from '../../../../../src/core/summaries.ts'
import { isStackable, type KanbanOptions } from '../../../../../src/core/views/index.ts'
import { m } from '../../../../messages.gen.ts'
import type { StackKey } from '../../../../records/layouts/stack-by.ts'
import type { StackSummary } from '../../../../records/layouts/stacks-layout.ts'
import { Button } from '../../../../ui/button.tsx'
import type { TableContext } from '../../../records/context/table-context.ts'
import toolbar from '../../controls/toolbar.module.css'
import { ToolbarButton } from '../../controls/toolbar-button.tsx'
import { CoverMenu } from '../../fields/cover-menu.tsx'
import { fieldsToChoose } from '../../state/arrange-fields.ts'
import styles from './kanban.module.css'
import { type Stack, withAllStacks, withStack } from './stacks.ts'

export interface KanbanToolsProps {
  context: TableContext
  options: KanbanOptions
  onChange: (patch: Partial<KanbanOptions>) => void
  /** All stacks in order, including hidden ones. */
  stacks: readonly Stack[]
  titleOf: (key: StackKey) => string
  summary: StackSummary | null
}

/** Toolbar controls of a kanban: stack field, visible stacks, cover, summary. */
export function KanbanTools(props: KanbanToolsProps) {
  const { context, options, onChange, stacks } = props
  const field = context.schema.fields.find(({ id }) => id === options.stackFieldId)
  const hidden = stacks.filter(({ isHidden }) => isHidden)
  return (
    <>
      <ToolbarButton
        icon={SquareKanban}
        label={field ? m.kanban_stacked_by_field({ field: field.title }) : m.kanban_stacked_by()}
        count={hidden.length + (options.hideEmpty ? 1 : 0)}
        tip={hidden.length > 0 ? m.kanban_stacks_hidden({ count: hidden.length }) : undefined}
        testId="stacks-button"
      >
        {(close) => <StacksPanel {...props} hidden={hidden} onClose={close} />}
      </ToolbarButton>
      <CoverMenu fields={context.schema.fields} cover={options} onChange={onChange} />
    </>
  )
}

function StacksPanel(props: KanbanToolsProps & { hidden: readonly Stack[]; onClose: () => void }) {
  const { context, options, onChange, stacks, hidden, titleOf, onClose } = props
  const fields = fieldsToChoose(context.schema.fields, context.state.view)
  return (
    <div className={styles.panel}>
      <label className={styles.panelLine}>
        <span>{m.kanban_stacked_by()}</span>
        <select
          className={toolbar.select}
          data-autofocus
          value={options.stackFieldId ?? ''}
          onChange={(event) => {
            // Stack settings apply to one field only.
            onChange({ stackFieldId: event.target.value || null, stacks: [] })
            onClose()
          }}
        >
          {fields.filter(isStackable).map((field) => (
            <option key={field.id} value={field.id}>
              {field.title}
            </option>
          ))}
        </select>
      </label>
      <SummaryChoice {...props} fields={fields} />
      <label className={styles.panelCheck}>
        <input
          type="checkbox"
          checked={options.hideEmpty}
          onChange={(event) => onChange({ hideEmpty: event.target.checked })}
        />
        <span>{m.kanban_hide_empty_stacks()}</span>
      </label>
      <div className={styles.panelFoot}>
        <Button
          size="small"
          variant="ghost"
          icon={ChevronsDownUp}
          disabled={stacks.every(({ isCollapsed }) => isCollapsed)}
          onClick={() => onChange({ stacks: withAllStacks(stacks, { isCollapsed: true }) })}
        >
          {m.kanban_collapse_all()}
        </Button>
        <Button
          size="small"
          variant="ghost"
          icon={ChevronsUpDown}
          disabled={!stacks.some(({ isCollapsed }) => isCollapsed)}
          onClick={() => onChange({ stacks: withAllStacks(stacks, { isCollapsed: false }) })}
        >
          {m.kanban_expand_all()}
        </Button>
      </div>
      {hidden.length > 0 && (
        <>
          <h3 className={toolbar.title}>{m.kanban_hidden_stacks()}</h3>
          <ul className={styles.hiddenList}>
            {hidden.map(({ key }) => (
              <li key={JSON.stringify(key)}>
                <span dir="auto" data-tip={titleOf(key)} data-tip-clipped>
                  {titleOf(key)}
                </span>
                <Button
                  size="small"
                  variant="ghost"
                  icon={Eye}
                  aria-label={m.kanban_show_stack({ stack: titleOf(key) })}
                  onClick={() => onChange({ stacks: withStack(stacks, key, { isHidden: false }) })}
                >
                  {m.kanban_show()}
                </Button>
              </li>
            ))}
          </ul>
          <Button
            size="small"
            onClick={() => onChange({ stacks: withAllStacks(stacks, { isHidden: false }) })}
          >
            {m.kanban_show_all_stacks()}
          </Button>
        </>
      )}
    </div>
  )
}

/** The field and summary shown on every stack, stored like a grid's footer summary. */
function SummaryChoice({ context, summary, fields }: KanbanToolsProps & { fields: readonly Field[] }) {
  const { state } = context
  const field = fields.find(({ id }) => id === summary?.fieldId)
  // Omits fields that can only be counted as filled or empty.
  const offered = fields.filter((one) => summarySetOf(one) !== 'count')

  function choose(fieldId: string, key: string | null) {
    const others = state.view.fields.filter((column) => column.summary !== null && column.fieldId !== fieldId)
    state.arrange([
      ...others.map((column) => ({ fieldId: column.fieldId, summary: null })),
      ...(fieldId === '' ? [] : [{ fieldId, summary: key }]),
    ])
  }

  if (offered.length === 0) return null
  return (
    <div className={styles.panelLine}>
      <label htmlFor="kanban-summary">{m.kanban_stack_summary()}</label>
      <span className={styles.panelPair}>
        <select
          id="kanban-summary"
          className={toolbar.select}
          value={field?.id ?? ''}
          onChange={(event) => {
            const next = offered.find(({ id }) => id === event.target.value)
            const [first] = next ? summariesFor(summarySetOf(next)) : []
            choose(event.target.value, first?.key ?? null)
          }}
        >
          <option value="">{m.common_none()}</option>
          {offered.map((one) => (
            <option key={one.id} value={one.id}>
              {one.title}
            </option>
          ))}
        </select>
        {field && (
          <select
            className={toolbar.select}
            aria-label={m.kanban_summary_of_field({ field: field.title })}
            value={summary?.summary ?? ''}
            onChange={(event) => choose(field.id, event.target.value)}
          >
            {summariesFor(summarySetOf(field)).map(({ key, label }) => (
              <option key={key} value={key}>
                {label()}
              </option>
            ))}
          </select>
        )}
      </span>
    </div>
  )
}
