import { Component, type ReactNode } from 'react';
import { ErrorNotice } from './error-notice.tsx';

interface BoundaryState {
  /** In a list, because anything can be thrown. */
  readonly thrown: readonly [unknown] | undefined;
}

/** Keeps an exception of one part of a page from taking the page: the part says what happened. */
export class Boundary extends Component<{ readonly children: ReactNode }, BoundaryState> {
  override readonly state: BoundaryState = { thrown: undefined };

  static getDerivedStateFromError(error: unknown): BoundaryState {
    return { thrown: [error] };
  }

  override render(): ReactNode {
    const { thrown } = this.state;
    if (thrown === undefined) return this.props.children;
    return <ErrorNotice error={thrown[0]} onRetry={() => this.setState({ thrown: undefined })} />;
  }
}
