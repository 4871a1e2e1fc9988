import type { Question } from '../../../../src/core/views/question.ts'
import type { FormRun } from '../use-form-run.ts'

/** Props of a question's input. */
export interface AnswerProps {
  question: Question
  run: FormRun
  /** Id of the control that the label points to. Groups of controls use `aria-labelledby={labelId}`. */
  id: string
  labelId: string
  /** Ids of the help text and the error message, for `aria-describedby`. */
  describedBy: string | undefined
  isInvalid: boolean
  isReadOnly: boolean
}
