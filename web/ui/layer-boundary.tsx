import { Component, type ReactNode } from 'react'
import { isDomConflict, mayRenderAgain } from '../navigation/dom-conflicts.ts'
import { showError } from './attempt.ts'

interface LayerBoundaryProps {
  /** Closes the layer. */
  onFailure: () => void
  /** True for a layer that closes without a message. */
  isQuiet?: boolean
  children: ReactNode
}

/**
 * Limits a failure of a dialog, an open record, a popover, menu or tooltip to itself, such as code that could not be
 * loaded: the layer closes with a message, and the page below stays. Errors caused by foreign DOM changes render again
 * instead.
 */
export class LayerBoundary extends Component<LayerBoundaryProps, { hasFailed: boolean }> {
  override state = { hasFailed: false }

  static getDerivedStateFromError(): { hasFailed: boolean } {
    return { hasFailed: true }
  }

  override componentDidCatch(error: unknown): void {
    if (isDomConflict(error) && mayRenderAgain()) {
      this.setState({ hasFailed: false })
      return
    }
    this.props.onFailure()
    if (!this.props.isQuiet) showError(error)
  }

  override render(): ReactNode {
    return this.state.hasFailed ? null : this.props.children
  }
}
