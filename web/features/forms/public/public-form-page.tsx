import { CircleOff, Link2Off, RotateCw, Users } from 'lucide-react'
import { type ReactNode, useCallback, useEffect, useMemo, useState } from 'react'
import type { FormState, ShareSettings } from '../../../../src/core/shares.ts'
import { PeopleProvider } from '../../../cells/people-context.ts'
import { messageOf } from '../../../errors.ts'
import { availableLanguages, RIGHT_TO_LEFT, showLanguage } from '../../../i18n.ts'
import { m } from '../../../messages.gen.ts'
import { firstContent, noteContent } from '../../../navigation/first-content.ts'
import { lazyPart } from '../../../navigation/lazy-screen.ts'
import { Button } from '../../../ui/button.tsx'
import { keyed } from '../../../ui/keyed.ts'
import { Main } from '../../../ui/main.tsx'
import { EmptyState } from '../../../ui/states.tsx'
import { loadInputs } from '../answers/answer-input.tsx'
import formStyles from '../form.module.css'
import { Pictures } from '../form-header.tsx'
import { FormView } from '../form-view.tsx'
import { pageStyle } from '../page-style.ts'
import { useFormRun } from '../use-form-run.ts'
import type { CompletedForm } from './complete-form.tsx'
import type { FormPlace } from './form-place.ts'
import { loadCompletion, type OpenForm, openForm, startsEarly } from './open-form.ts'
import styles from './public-form.module.css'
import { ShareError, shareClient } from './share-client.ts'

const SurveyView = lazyPart(() => import('../survey-view.tsx'), 'SurveyView', <Opening />)
const AfterSubmit = lazyPart(() => import('../after-submit.tsx'), 'AfterSubmit')
const LinkPassword = lazyPart(() => import('../../layout/link-password.tsx'), 'LinkPassword')
const OverlayHosts = lazyPart(() => import('./complete-form.tsx'), 'OverlayHosts')

type State =
  | { kind: 'opening' }
  | { kind: 'password'; isWrong: boolean; error: string | null }
  | { kind: 'notice'; notice: Exclude<FormState, 'open'> | 'gone' | { failure: string } }
  /** `completed` is null for a form that is completed after its first paint. */
  | { kind: 'open'; form: OpenForm; completed: CompletedForm | null }

/** The page of a form's public link. */
export function PublicFormPage({ place }: { place: FormPlace }) {
  const [state, setState] = useState<State>({ kind: 'opening' })
  const open = useCallback(
    async (password: string | null) => {
      try {
        const found = await openForm(shareClient({ id: place.linkId, password }), place)
        if (!('source' in found)) {
          await applySettings(found.settings)
          setState({ kind: 'notice', notice: found.form === 'open' ? 'gone' : (found.form ?? 'gone') })
          return
        }
        await applySettings(found.share.settings)
        document.title = found.source.options.heading || found.share.title
        const isSurvey = place.isSurvey || found.share.settings.survey
        const completed =
          !isSurvey && startsEarly(found, place) ? null : await completeNow(found, place, isSurvey)
        setState({ kind: 'open', form: found, completed })
      } catch (error) {
        setState(await refusedState(error, password))
      }
    },
    [place],
  )
  useEffect(() => void open(null), [open])

  if (state.kind === 'opening') return <Opening />
  if (state.kind === 'open') return <OpenFormPage form={state.form} initial={state.completed} place={place} />
  if (state.kind === 'password') return <PasswordPage state={state} onTry={open} />
  return <Notice notice={state.notice} onRetry={() => void open(null)} />
}

/** The page after an error: asks for the password, or explains why the form cannot be shown. */
async function refusedState(error: unknown, password: string | null): Promise<State> {
  // A script that cannot be loaded.
  if (!(error instanceof ShareError)) return { kind: 'notice', notice: { failure: messageOf(error) } }
  const isRefused = error.code === 'INVALID_SHARED_VIEW_PASSWORD'
  const hasTriedTooOften = error.code === 'TOO_MANY_REQUESTS' && password !== null
  if (isRefused || hasTriedTooOften) {
    try {
      await LinkPassword.preload()
    } catch (failure) {
      return refusedState(failure, null)
    }
    return {
      kind: 'password',
      isWrong: isRefused && password !== null,
      error: hasTriedTooOften ? m.form_too_many_attempts_try_again() : null,
    }
  }
  const isGone = error.code === 'VIEW_NOT_FOUND' || error.code === 'NO_FORM'
  return { kind: 'notice', notice: isGone ? 'gone' : { failure: error.message } }
}

/** Applies the link's language and text direction to the page. */
async function applySettings({ language, rtl }: ShareSettings): Promise<void> {
  const shown = availableLanguages().find((code) => code === language)
  if (shown) await showLanguage(shown)
  if (rtl || (shown && RIGHT_TO_LEFT.includes(shown))) document.documentElement.dir = 'rtl'
}

/** Completes a form before its first paint, with everything that it draws loaded at the same time. */
async function completeNow(form: OpenForm, place: FormPlace, isSurvey: boolean): Promise<CompletedForm> {
  const [completed] = await Promise.all([
    loadCompletion(form, place),
    loadInputs(form.source.questions),
    isSurvey && SurveyView.preload(),
  ])
  return completed
}

/** The completed form, after the first paint of one that starts early, and why completing it failed. */
function useCompletion(form: OpenForm, initial: CompletedForm | null, place: FormPlace) {
  const [completed, setCompleted] = useState(initial)
  const [message, setMessage] = useState<string | null>(null)
  const complete = useCallback(async () => {
    setMessage(null)
    try {
      setCompleted(await loadCompletion(form, place))
    } catch (error) {
      setMessage(messageOf(error))
    }
  }, [form, place])
  useEffect(() => {
    if (initial !== null) return
    noteContent()
    void firstContent.then(complete)
  }, [initial, complete])
  const failure = useMemo(
    () => (message === null ? null : { message, onRetry: () => void complete() }),
    [message, complete],
  )
  return { completed, failure }
}

interface OpenFormPageProps {
  form: OpenForm
  initial: CompletedForm | null
  place: FormPlace
}

function OpenFormPage({ form, initial, place }: OpenFormPageProps) {
  const { share } = form
  const { completed, failure } = useCompletion(form, initial, place)
  const source = completed?.source ?? form.source
  const run = useFormRun(source, completed?.rules ?? null, completed?.prefill)
  const { options } = run
  const people = useMemo(() => new Map(source.people.map((person) => [person.id, person])), [source])
  const foot = options.hideBranding ? null : (
    <footer className={styles.foot}>
      <a href="/" target="_blank" rel="noopener">
        {m.form_made_with_sheaf()}
      </a>
    </footer>
  )
  const isSurvey = place.isSurvey || share.settings.survey
  return (
    <PeopleProvider value={people}>
      <Main
        className={styles.page}
        style={pageStyle(
          options.backgroundColor,
          share.settings.themeColor ?? share.theme?.primaryColor ?? null,
        )}
        data-testid="public-form"
      >
        {run.status.kind === 'done' ? (
          <div className={formStyles.form}>
            <Pictures options={options} pictures={source.pictures} />
            <AfterSubmit run={run} />
            {foot}
          </div>
        ) : isSurvey ? (
          <SurveyView key={run.epoch} run={run} title={share.title} foot={foot} />
        ) : (
          <FormView run={run} title={share.title} foot={foot} failure={failure} />
        )}
      </Main>
      {completed && <OverlayHosts />}
    </PeopleProvider>
  )
}

/** Placeholder while the form loads. */
function Opening(): ReactNode {
  return (
    <Main className={styles.page} aria-busy="true">
      <div className={`${formStyles.form} ${styles.opening}`}>
        <span className="visually-hidden">{m.form_loading_form()}</span>
        {keyed([40, 90, 0, 30, 100, 30, 100]).map(({ key, item: width }) => (
          <span key={key} style={{ inlineSize: `${width}%` }} />
        ))}
      </div>
    </Main>
  )
}

/** Explains why the link does not accept responses. */
function Notice({
  notice,
  onRetry,
}: {
  notice: Extract<State, { kind: 'notice' }>['notice']
  onRetry: () => void
}) {
  if (typeof notice === 'object') {
    return (
      <Centred>
        <EmptyState headingLevel={1} icon={CircleOff} title={m.form_form_open_failed()} text={notice.failure}>
          <Button icon={RotateCw} variant="primary" onClick={onRetry}>
            {m.common_try_again()}
          </Button>
        </EmptyState>
      </Centred>
    )
  }
  const texts = {
    gone: [m.form_form_not_found(), m.form_form_link_invalid_hint()],
    closed: [m.form_this_form_is_closed(), m.form_it_no_longer_accepts_responses()],
    full: [m.form_this_form_is_closed(), m.form_reached_response_limit()],
    answered: [m.form_youve_already_responded(), m.form_form_accepts_one_response_per()],
  } as const
  const [title, text] = texts[notice]
  const icon = notice === 'gone' ? Link2Off : notice === 'full' ? Users : CircleOff
  return (
    <Centred>
      <EmptyState icon={icon} title={title} text={text} headingLevel={1} />
    </Centred>
  )
}

function Centred({ children }: { children: ReactNode }) {
  return (
    <Main className={styles.page} data-testid="form-notice">
      <div className={formStyles.form}>{children}</div>
    </Main>
  )
}

interface PasswordPageProps {
  state: { isWrong: boolean; error: string | null }
  onTry: (password: string) => Promise<void>
}

/** Asks for the password of a form's link. */
const PasswordPage = ({ state, onTry }: PasswordPageProps) => (
  <Main className={styles.page} data-testid="form-password">
    <div className={formStyles.form}>
      <LinkPassword
        className={styles.password}
        title={m.form_this_form_is_password_protected()}
        openLabel={m.form_open_form()}
        problem={state.isWrong ? m.common_incorrect_password() : state.error}
        onTry={onTry}
      />
    </div>
  </Main>
)
