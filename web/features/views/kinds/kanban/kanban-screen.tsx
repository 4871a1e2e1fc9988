import { useMemo } from 'react'
import { type KindScreenProps, useViewFrame } from '../../../records/screen/view-frame.tsx'
import { useKindOptions } from '../../state/view-state.ts'
import { BoardScreen } from './board-screen.tsx'
import { ChooseField } from './choose-field.tsx'
import { stackByOf } from './stack-by.ts'

/** The records of a table as cards in stacks, one for each value of a field. */
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
  // Stacked by another field it is another board.
  return (
    <BoardScreen key={by.field.id} {...props} frame={frame} by={by} options={options} onOptions={change} />
  )
}
