import { useRef, useState } from 'react'
import { HIDEABLE_ROLES, type HideableRole } from '../../../../src/core/roles.ts'
import { messageOf } from '../../../errors.ts'
import { m } from '../../../messages.gen.ts'
import { Alert } from '../../../ui/alert.tsx'
import { Button } from '../../../ui/button.tsx'
import { Dialog } from '../../../ui/overlays.ts'
import { Switch } from '../../../ui/switch.tsx'
import { rolesLabel } from './hidden-mark.ts'
import styles from './visibility-dialog.module.css'

export interface VisibilityDialogProps {
  /** The view's title. */
  title: string
  hiddenFrom: readonly HideableRole[]
  /** Saves; on errors, the dialog shows the message and resets the switch. */
  onSave: (hiddenFrom: HideableRole[]) => Promise<void>
  onClose: () => void
}

/** Dialog for hiding a view from roles; each switch takes effect at once. */
export function VisibilityDialog({ title, onSave, onClose, ...props }: VisibilityDialogProps) {
  const [hidden, setHidden] = useState(props.hiddenFrom)
  const [problem, setProblem] = useState<string | null>(null)
  const saved = useRef(props.hiddenFrom)
  // Saves run in sequence, so that the last change wins.
  const saving = useRef(Promise.resolve())

  function show(role: HideableRole, isShown: boolean) {
    const after = HIDEABLE_ROLES.filter((one) => (one === role ? !isShown : hidden.includes(one)))
    setHidden(after)
    setProblem(null)
    saving.current = saving.current.then(() => save(after))
  }

  async function save(after: HideableRole[]) {
    try {
      await onSave(after)
      saved.current = after
    } catch (error) {
      setHidden(saved.current)
      setProblem(messageOf(error))
    }
  }

  return (
    <Dialog
      title={m.views_visibility_of_title({ title })}
      onClose={onClose}
      footer={
        <Button variant="primary" onClick={onClose}>
          {m.common_done()}
        </Button>
      }
    >
      <div className={styles.roles}>
        {HIDEABLE_ROLES.map((role) => (
          <Switch
            key={role}
            label={rolesLabel(role)}
            checked={!hidden.includes(role)}
            onChange={(isShown) => show(role, isShown)}
          />
        ))}
        {problem && <Alert tone="error">{problem}</Alert>}
        <p className={styles.note}>{m.views_view_visibility_hint()}</p>
      </div>
    </Dialog>
  )
}
