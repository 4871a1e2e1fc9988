import { Monitor, Smartphone } from 'lucide-react'
import { useMemo, useState } from 'react'
import { optionsOf } from '../../../../../src/core/views/index.ts'
import { m } from '../../../../messages.gen.ts'
import { IconButton } from '../../../../ui/button.tsx'
import { toast } from '../../../../ui/toast.ts'
import { AfterSubmit } from '../../../forms/after-submit.tsx'
import { ANSWER_RULES } from '../../../forms/answer-rules.ts'
import formStyles from '../../../forms/form.module.css'
import type { FormSource } from '../../../forms/form-source.ts'
import { FormView } from '../../../forms/form-view.tsx'
import { pageStyle } from '../../../forms/page-style.ts'
import { SurveyView } from '../../../forms/survey-view.tsx'
import { useFormRun } from '../../../forms/use-form-run.ts'
import styles from './builder.module.css'

/** Preview of the form for desktop or phone. Answers are validated but not stored. */
export function FormPreview({ source, title }: { source: FormSource; title: string }) {
  const [isPhone, setPhone] = useState(false)
  const [isSurvey, setSurvey] = useState(false)
  const run = useFormRun(source, ANSWER_RULES)
  const test = {
    label: m.form_test(),
    onGood: () => toast.success({ text: m.form_all_answers_valid_test_only() }),
  }
  return (
    <div className={styles.preview} data-testid="form-preview">
      <div className={styles.previewBar}>
        <IconButton
          icon={Monitor}
          label={m.form_desktop()}
          aria-pressed={!isPhone}
          onClick={() => setPhone(false)}
        />
        <IconButton
          icon={Smartphone}
          label={m.form_phone()}
          aria-pressed={isPhone}
          onClick={() => setPhone(true)}
        />
        <label className={styles.radio}>
          <input type="checkbox" checked={isSurvey} onChange={(event) => setSurvey(event.target.checked)} />
          {m.form_one_question_at_a_time()}
        </label>
      </div>
      <div
        className={styles.stage}
        data-phone={isPhone || undefined}
        style={pageStyle(optionsOf(source.view, 'form').backgroundColor, null)}
      >
        {isSurvey ? (
          <SurveyView key={run.epoch} run={run} title={title} test={test} />
        ) : (
          <FormView run={run} title={title} test={test} />
        )}
      </div>
    </div>
  )
}

/** The form within the app, for users who may create records. Keeps unsent answers. */
export function FormFillIn({
  source,
  title,
  onCancel,
}: {
  source: FormSource
  title: string
  onCancel?: () => void
}) {
  const kept = useMemo(() => ({ ...source, keepAs: source.view.id }), [source])
  const run = useFormRun(kept, ANSWER_RULES)
  return (
    <div
      className={styles.stage}
      style={pageStyle(run.options.backgroundColor, null)}
      data-testid="form-fill-in"
    >
      {run.status.kind === 'done' ? (
        <div className={formStyles.form}>
          <AfterSubmit run={run} stays />
        </div>
      ) : (
        <FormView run={run} title={title} onCancel={onCancel} />
      )}
    </div>
  )
}
