import type { Question } from '../../../../src/core/views/form-answers.ts'
import type { FormRun } from '../use-form-run.ts'

/** Props of a question's input. */
export interface AnswerProps {
  question: Question
  run: FormRun
  /** Id of the control, for the label. Groups of controls are named by `labelId`. */
  id: string
  labelId: string
  /** Ids of the help and of what is wrong. */
  describedBy: string | undefined
  isInvalid: boolean
  isReadOnly: boolean
}
