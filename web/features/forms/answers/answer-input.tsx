import type { ComponentType, ReactNode } from 'react'
import type { FieldTypeName } from '../../../../src/core/fields/index.ts'
import { linkOf } from '../../../../src/core/fields/link-options.ts'
import { hasChoices, hasSingleChoice } from '../../../../src/core/fields/traits.ts'
import { lazyPart } from '../../../navigation/lazy-screen.ts'
import { Skeleton } from '../../../ui/states.tsx'
import type { AnswerProps } from './answer.ts'
import styles from './answers.module.css'
import { CellAnswer } from './cell-answer.tsx'
import { loadedCell } from './cells.ts'
import { ChoiceList, ChoiceSelect } from './choice-answer.tsx'
import { StarsAnswer, TickAnswer } from './tick-answer.tsx'

const FileAnswer = lazyPart(() => import('./file-answer.tsx'), 'FileAnswer', <Skeleton height={32} />)
const ScanButton = lazyPart(() => import('./scan-button.tsx'), 'ScanButton')
const LinkAnswer = lazyPart(() => import('./link-answer.tsx'), 'LinkAnswer', <Skeleton height={32} />)

/** Types with an input of their own in forms; the others use the editor of their cell. */
const INPUTS: Partial<Record<FieldTypeName, ComponentType<AnswerProps>>> = {
  Checkbox: TickAnswer,
  Rating: StarsAnswer,
  Attachment: FileAnswer,
}

/** The input of a question, as its field's type and its layout ask for it. */
export function AnswerInput(props: AnswerProps): ReactNode {
  const { field, form } = props.question
  const OwnInput = INPUTS[field.type]
  if (OwnInput) return <OwnInput {...props} />
  if (linkOf(field) !== null) return <LinkAnswer {...props} />
  if (hasChoices(field)) {
    if (form.layout === 'list') return <ChoiceList {...props} />
    if (hasSingleChoice(field)) return <ChoiceSelect {...props} />
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
  INPUTS[field.type] !== StarsAnswer && !(form.layout === 'list' && hasChoices(field))

/** True where the browser reads bar and QR codes by itself and there may be a camera. */
const canScan = (): boolean => 'BarcodeDetector' in globalThis && 'mediaDevices' in navigator
