import { ClipboardPen, Eye, PencilRuler, Settings2 } from 'lucide-react'
import { useMemo, useState } from 'react'
import { roleCan } from '../../../../../src/core/roles.ts'
import type { ShortcutSection } from '../../../../actions/index.ts'
import { m } from '../../../../messages.gen.ts'
import { Button } from '../../../../ui/button.tsx'
import { shortcutLabel } from '../../../../ui/shortcuts.ts'
import { ANSWER_RULES, startValues } from '../../../forms/answer-rules.ts'
import { useFormRun } from '../../../forms/use-form-run.ts'
import { useIsNarrow } from '../../../layout/sidebar-state.ts'
import { TableSkeleton } from '../../../layout/table-skeleton.tsx'
import { QueueBar } from '../../../records/bars/status-bars.tsx'
import { gridRights } from '../../../records/context/grid-rights.ts'
import type { KindScreenProps } from '../../../records/screen/view-frame.tsx'
import { useScreenUndo } from '../../../records/undo/use-screen-undo.ts'
import { KeptChanges } from '../../state/kept-changes.tsx'
import { useViewState } from '../../state/view-state.ts'
import { useAppSource, useCells } from './app-source.ts'
import styles from './builder.module.css'
import { Canvas } from './canvas.tsx'
import { FormFillIn, FormPreview } from './form-preview.tsx'
import { SidePanel } from './side-panel.tsx'
import { useFormBuilder } from './use-form-builder.ts'

type Mode = 'build' | 'preview' | 'fill'

/**
 * Screen of a form view: builder for users who may arrange views, preview for everyone, and the form for users who may
 * create records.
 */
export function FormScreen({ schema, saved, role, people }: KindScreenProps) {
  const { mayArrange, grid } = useMemo(() => gridRights(role, schema), [role, schema])
  const state = useViewState(schema, saved, role)
  const { view } = state
  const modes: Mode[] = [
    ...(mayArrange ? (['build'] as const) : []),
    'preview',
    ...(grid.addRecords ? (['fill'] as const) : []),
  ]
  const [chosen, setMode] = useState<Mode>(modes[0] ?? 'preview')
  const mode = modes.includes(chosen) ? chosen : 'preview'
  const isNarrow = useIsNarrow()
  const [isPanelOpen, setPanelOpen] = useState(true)
  const source = useAppSource(schema, view, people)
  const builder = useFormBuilder(schema.fields, state)
  // The canvas shows initial values, independent of the preview.
  const run = useFormRun(source, ANSWER_RULES)
  const shown = useMemo(() => {
    const values = startValues(source)
    return { ...run, value: (fieldId: string) => values[fieldId] ?? null }
  }, [run, source])
  const hasCells = useCells()
  useScreenUndo(
    { baseId: schema.table.baseId, tableId: schema.table.id, viewId: view.id },
    roleCan(role, 'record.undo'),
    FORM_SHORTCUTS,
  )
  const title = view.title
  const [isPanelAsked, setPanelAsked] = useState(false)
  const hasPanel = mode === 'build' && (isNarrow ? isPanelAsked : isPanelOpen)

  return (
    <div className={styles.screen} data-testid="form-screen">
      <div className={styles.bar} role="toolbar" aria-label={m.common_view()}>
        <div className={styles.modes} role="radiogroup" aria-label={m.form_form_mode()}>
          {modes.map((one) => (
            <ModeButton
              key={one}
              mode={one}
              isOn={one === mode}
              isNarrow={isNarrow}
              onChoose={() => setMode(one)}
            />
          ))}
        </div>
        <span className={styles.space} />
        {view.isShared && mode === 'build' && (
          <span className={styles.live} role="status">
            {isNarrow ? m.form_public_form() : m.form_form_public_changes_live_immediately()}
          </span>
        )}
        <KeptChanges state={state} />
        {mode === 'build' && (
          <Button
            size="small"
            icon={Settings2}
            aria-pressed={hasPanel}
            onClick={() => (isNarrow ? setPanelAsked(!isPanelAsked) : setPanelOpen(!isPanelOpen))}
          >
            <span className={isNarrow ? 'visually-hidden' : undefined}>{m.form_settings()}</span>
          </Button>
        )}
      </div>
      <QueueBar baseId={schema.table.baseId} />
      {!hasCells ? (
        <TableSkeleton shape="canvas" />
      ) : (
        <div className={styles.main} data-narrow={isNarrow || undefined}>
          {mode === 'build' && !(isNarrow && hasPanel) && (
            <Canvas builder={builder} run={shown} title={title} tableId={schema.table.id} />
          )}
          {hasPanel && <SidePanel builder={builder} schema={schema} people={people} />}
          {mode === 'preview' && <FormPreview key={formKey(view)} source={source} title={title} />}
          {mode === 'fill' && (
            <FormFillIn
              source={source}
              title={title}
              onCancel={mayArrange ? () => setMode('build') : () => setMode('preview')}
            />
          )}
        </div>
      )}
    </div>
  )
}

/** Resets the preview when the questions change. */
const formKey = ({ fields }: KindScreenProps['saved']): string =>
  fields
    .filter(({ show }) => show)
    .map(({ fieldId }) => fieldId)
    .join()

function ModeButton(props: { mode: Mode; isOn: boolean; isNarrow: boolean; onChoose: () => void }) {
  const { mode, isOn, isNarrow, onChoose } = props
  const Icon = { build: PencilRuler, preview: Eye, fill: ClipboardPen }[mode]
  const label = { build: m.form_build(), preview: m.form_preview(), fill: m.form_fill_in() }[mode]
  return (
    // biome-ignore lint/a11y/useSemanticElements: a radio button is no button with an icon
    <button
      type="button"
      role="radio"
      aria-checked={isOn}
      className={styles.mode}
      data-testid={`form-mode-${mode}`}
      onClick={onChoose}
    >
      <Icon size={15} aria-hidden />
      <span className={isNarrow && !isOn ? 'visually-hidden' : undefined}>{label}</span>
    </button>
  )
}

/** Keys of the form builder for the shortcut sheet; `question-card.tsx` and `use-screen-undo.ts` handle them. */
const FORM_SHORTCUTS: ShortcutSection = {
  title: () => m.form_form(),
  lines: [
    { keys: ['Tab', 'Shift+Tab'], label: () => m.form_next_and_previous_question() },
    { keys: ['↑', '↓'], label: () => m.form_move_question_on_its_handle() },
    { keys: ['Enter'], label: () => m.form_save_title_or_text() },
    { keys: ['Esc'], label: () => m.common_cancel() },
    { keys: [shortcutLabel('mod+z')], label: () => m.common_undo() },
    { keys: [shortcutLabel('mod+shift+z'), shortcutLabel('mod+y')], label: () => m.common_redo() },
  ],
}
