import { LoaderCircle } from 'lucide-react'
import type { ButtonHTMLAttributes, ComponentType, ReactNode, Ref } from 'react'
import styles from './button.module.css'

type Icon = ComponentType<{ size?: number | string; className?: string }>
type Native = Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'children'>

interface ButtonProps extends Native {
  children: ReactNode
  /** `primary` only once per screen or dialog; `secondary` (default) has a border, `ghost` does not. */
  variant?: 'primary' | 'secondary' | 'ghost' | 'danger'
  size?: 'small' | 'normal' | 'large'
  icon?: Icon
  /** Shows a spinner and ignores presses while a request runs. */
  busy?: boolean
  ref?: Ref<HTMLButtonElement>
}

/**
 * What makes a button unavailable: it ignores presses but keeps the focus, which a `disabled` one would lose, and so its
 * place for those who use the keyboard. A submit button submits its form neither by Enter in a field.
 */
const UNAVAILABLE: Pick<Native, 'aria-disabled' | 'onClick'> = {
  'aria-disabled': true,
  onClick(event) {
    event.preventDefault()
    event.stopPropagation()
  },
}

/** A button with a text. */
export function Button({
  variant = 'secondary',
  size = 'normal',
  icon: Icon,
  busy = false,
  disabled = false,
  children,
  className,
  ...rest
}: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      className={`${styles.button} ${className ?? ''}`}
      data-variant={variant}
      data-size={size}
      aria-busy={busy || undefined}
      {...((disabled || busy) && UNAVAILABLE)}
    >
      {busy ? <LoaderCircle size={15} className={styles.wheel} /> : Icon && <Icon size={15} />}
      <span>{children}</span>
    </button>
  )
}

interface IconButtonProps extends Native {
  icon: Icon
  /** Accessible name and tooltip. */
  label: string
  /** Shown in the tooltip, as returned by `shortcutLabel`. */
  shortcut?: string
  iconSize?: number
  size?: 'small' | 'normal'
  ref?: Ref<HTMLButtonElement>
}

/** An icon button; its name shows on hover and focus. */
export function IconButton({
  icon: Icon,
  label,
  shortcut,
  iconSize = 16,
  size = 'normal',
  disabled = false,
  className,
  ...rest
}: IconButtonProps) {
  return (
    <button
      type="button"
      aria-label={label}
      data-tip={label}
      data-tip-keys={shortcut}
      {...rest}
      className={`${styles.iconButton} ${className ?? ''}`}
      data-size={size}
      {...(disabled && UNAVAILABLE)}
    >
      <Icon size={iconSize} />
    </button>
  )
}
