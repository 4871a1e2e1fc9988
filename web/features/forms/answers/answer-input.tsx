import type { ReactNode } from 'react'
import { linkOf } from '../../../../src/core/fields/link-options.ts'
import { lazyPart } from '../../../routes/lazy-screen.ts'
import { Skeleton } from '../../../ui/states.tsx'
import type { AnswerProps } from './answer.ts'
import styles from './answers.module.css'
import { canScan } from './can-scan.ts'
import { CellAnswer } from './cell-answer.tsx'
import { loadedCell } from './cells.ts'
import { ChoiceList, ChoiceSelect } from './choice-answer.tsx'
import { StarsAnswer, TickAnswer } from './tick-answer.tsx'

const FileAnswer = lazyPart(() => import('./file-answer.tsx'), 'FileAnswer', <Skeleton height={32} />)
const ScanButton = lazyPart(() => import('./scan-button.tsx'), 'ScanButton')
const LinkAnswer = lazyPart(() => import('./link-answer.tsx'), 'LinkAnswer', <Skeleton height={32} />)

/** The input of a question, as its field's type and its layout ask for it. */
export function AnswerInput(props: AnswerProps): ReactNode {
  const { field, form } = props.question
  if (field.type === 'Checkbox') return <TickAnswer {...props} />
  if (field.type === 'Rating') return <StarsAnswer {...props} />
  if (field.type === 'Attachment') return <FileAnswer {...props} />
  if (linkOf(field) !== null) return <LinkAnswer {...props} />
  if (field.type === 'SingleSelect' || field.type === 'MultiSelect') {
    if (form.layout === 'list') return <ChoiceList {...props} />
    if (field.type === 'SingleSelect') return <ChoiceSelect {...props} />
  }
  const cell = loadedCell(field.type)
  if (!cell) return <Skeleton height={32} />
  if (!form.enableScanner || props.isReadOnly || !canScan()) return <CellAnswer {...props} cell={cell} />
  return (
    <div className={styles.scanned}>
      <CellAnswer {...props} cell={cell} />
      <ScanButton {...props} />
    </div>
  )
}

/** True where the label names one control, and not a group of them. */
export const isOneControl = ({ field, form }: AnswerProps['question']): boolean =>
  field.type !== 'Rating' &&
  !(form.layout === 'list' && (field.type === 'SingleSelect' || field.type === 'MultiSelect'))
