import { Search } from 'lucide-react'
import type { InputHTMLAttributes, ReactNode, Ref } from 'react'
import styles from './search-input.module.css'

interface SearchInputProps
  extends Omit<InputHTMLAttributes<HTMLInputElement>, 'type' | 'value' | 'onChange' | 'aria-label'> {
  /** Name of the box, also shown while it is empty unless there is a `placeholder`. */
  label: string
  value: string
  onSearch(text: string): void
  ref?: Ref<HTMLInputElement>
  /** Content of the box after the text. */
  after?: ReactNode
}

/** A search box. `className` positions it; other attributes go to the input. */
export function SearchInput({
  label,
  onSearch,
  after,
  className = '',
  ...input
}: SearchInputProps): ReactNode {
  return (
    <label className={`${styles.box} ${className}`}>
      <Search size={14} aria-hidden />
      <input
        dir="auto"
        placeholder={label}
        {...input}
        type="search"
        aria-label={label}
        onChange={(event) => onSearch(event.target.value)}
      />
      {after}
    </label>
  )
}
