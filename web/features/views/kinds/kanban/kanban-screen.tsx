import { Plus, SquareKanban } from 'lucide-react'
import { useMemo, useState } from 'react'
import { CHOICE_COLORS } from '../../../../../src/core/fields/choices.ts'
import type { TableSchema } from '../../../../../src/core/model.ts'
import { type BaseRole, roleCan } from '../../../../../src/core/roles.ts'
import { isStackable } from '../../../../../src/core/views/index.ts'
import { CELLS } from '../../../../cells/index.ts'
import { messageOf } from '../../../../errors.ts'
import { m } from '../../../../messages.gen.ts'
import { stackByOf } from '../../../../records/layouts/stack-by.ts'
import { Button } from '../../../../ui/button.tsx'
import { EmptyState } from '../../../../ui/states.tsx'
import { toast } from '../../../../ui/toast.ts'
import { type KindScreenProps, useViewFrame } from '../../../records/screen/view-frame.tsx'
import { createField } from '../../../schema/field-commands.tsx'
import { useKindOptions } from '../../state/view-state.ts'
import styles from './kanban.module.css'
import { KanbanView } from './kanban-view.tsx'

/** A table's records as cards in stacks, one per value of a field. */
export function KanbanScreen(props: KindScreenProps) {
  const { schema, role } = props
  const frame = useViewFrame(props)
  const [options, change] = useKindOptions(frame.state, 'kanban')
  const { stackFieldId } = options
  const by = useMemo(() => stackByOf(schema.fields, stackFieldId), [schema.fields, stackFieldId])
  if (!by) {
    return (
      <ChooseField
        schema={schema}
        role={role}
        onChoose={(fieldId) => change({ stackFieldId: fieldId, stacks: [] })}
      />
    )
  }
  // Another stack field resets the kanban.
  return (
    <KanbanView key={by.field.id} {...props} frame={frame} by={by} options={options} onOptions={change} />
  )
}

interface ChooseFieldProps {
  schema: TableSchema
  role: BaseRole
  onChoose: (fieldId: string) => void
}

/** Shown instead of a kanban without a stack field: lets the user choose or add one. */
function ChooseField({ schema, role, onChoose }: ChooseFieldProps) {
  const [isBusy, setBusy] = useState(false)
  const fields = schema.fields.filter(
    (field) => !field.isSystem && isStackable(field) && stackByOf(schema.fields, field.id) !== null,
  )

  async function create() {
    setBusy(true)
    try {
      const titles = [m.kanban_to_do(), m.kanban_in_progress(), m.common_done()]
      const choices = titles.map((title, at) => ({ title, color: CHOICE_COLORS[[0, 6, 7][at] ?? 0] }))
      const title = freeTitle(schema, m.kanban_status())
      const field = await createField(schema.table, { title, type: 'SingleSelect', options: { choices } })
      onChoose(field.id)
    } catch (error) {
      toast.error({ text: messageOf(error) })
      setBusy(false)
    }
  }

  return (
    <div className={styles.choose} data-testid="kanban-choose">
      <EmptyState
        icon={SquareKanban}
        title={m.kanban_choose_field_stack()}
        text={m.kanban_stack_field_hint()}
      >
        {fields.map((field) => {
          const { Icon } = CELLS[field.type]
          return (
            <Button key={field.id} icon={Icon} onClick={() => onChoose(field.id)}>
              {field.title}
            </Button>
          )
        })}
        {roleCan(role, 'field.create') ? (
          <Button variant="primary" icon={Plus} busy={isBusy} onClick={() => void create()}>
            {m.kanban_add_status_field()}
          </Button>
        ) : (
          fields.length === 0 && <p>{m.kanban_table_no_suitable_field_ask()}</p>
        )}
      </EmptyState>
    </div>
  )
}

function freeTitle({ fields }: TableSchema, prefix: string): string {
  const taken = new Set(fields.map(({ title }) => title.toLowerCase()))
  for (let n = 1; ; n++) {
    const title = n === 1 ? prefix : `${prefix} ${n}`
    if (!taken.has(title.toLowerCase())) return title
  }
}
