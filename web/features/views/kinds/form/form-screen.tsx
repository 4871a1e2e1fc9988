import { ClipboardPen, Eye, PencilRuler, Settings2 } from 'lucide-react'
import { useMemo, useState } from 'react'
import { roleCan } from '../../../../../src/core/roles.ts'
import type { ShortcutSection } from '../../../../actions/index.ts'
import { t } from '../../../../i18n.ts'
import { Button } from '../../../../ui/button.tsx'
import { shortcutLabel } from '../../../../ui/shortcuts.ts'
import { startValues, useFormRun } from '../../../forms/use-form-run.ts'
import { useIsNarrow } from '../../../layout/sidebar-state.ts'
import { TableSkeleton } from '../../../layout/table-skeleton.tsx'
import { QueueBar } from '../../../records/bars/queue-bar.tsx'
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

/** A form: built by those who may arrange views, tried out by everyone, filled in by those who may make records. */
export function FormScreen({ schema, saved, role, people }: KindScreenProps) {
  const { mayArrange, grid } = useMemo(() => gridRights(role, schema), [role, schema])
  const state = useViewState(schema, saved, mayArrange)
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
  // The canvas shows what stands in a form at first, whatever is tried out elsewhere.
  const run = useFormRun(source)
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
      <div className={styles.bar} role="toolbar" aria-label={t('View')}>
        <div className={styles.modes} role="radiogroup" aria-label={t('Form mode')}>
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
            {isNarrow ? t('Public form') : t('This form is public. Your changes are live immediately.')}
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
            <span className={isNarrow ? 'visually-hidden' : undefined}>{t('Settings')}</span>
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

/** Another set of questions is another form: what was tried out in it begins anew. */
const formKey = ({ fields }: KindScreenProps['saved']): string =>
  fields
    .filter(({ show }) => show)
    .map(({ fieldId }) => fieldId)
    .join()

function ModeButton(props: { mode: Mode; isOn: boolean; isNarrow: boolean; onChoose: () => void }) {
  const { mode, isOn, isNarrow, onChoose } = props
  const Icon = { build: PencilRuler, preview: Eye, fill: ClipboardPen }[mode]
  const label = { build: t('Build'), preview: t('Preview'), fill: t('Fill in') }[mode]
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

/** The keys of a form's builder, for the shortcut sheet. They are read by `question-card.tsx` and `use-screen-undo.ts`. */
const FORM_SHORTCUTS: ShortcutSection = {
  title: () => t('Form'),
  lines: [
    { keys: ['Tab', 'Shift+Tab'], label: () => t('Next and previous question') },
    { keys: ['↑', '↓'], label: () => t('Move question (on its handle)') },
    { keys: ['Enter'], label: () => t('Save title or text') },
    { keys: ['Esc'], label: () => t('Cancel') },
    { keys: [shortcutLabel('mod+z')], label: () => t('Undo') },
    { keys: [shortcutLabel('mod+shift+z'), shortcutLabel('mod+y')], label: () => t('Redo') },
  ],
}
